// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-analyze/charts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// page has the table between two comments.
const (
	page  = "benchmarks.md"
	begin = "<!-- begin table -->\n"
	end   = "<!-- end table -->\n"
)

// publish writes a report and its charts into the supplied directory, and puts its table
// into the page there, if there is one.
func publish(r *report, dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return errors.Wrap(err, "cannot marshal report")
	}

	//nolint:gosec // Everyone may read it.
	if err := errors.Join(os.MkdirAll(dir, 0o755), save(dir, reportFile, string(data)+"\n")); err != nil {
		return err
	}

	for name, c := range r.charts() {
		image, err := draw(c)
		if err != nil {
			return errors.Wrapf(err, "cannot draw %s", name)
		}

		if err := save(dir, name, image); err != nil {
			return err
		}
	}

	path := filepath.Join(dir, page)

	text, err := os.ReadFile(path) //nolint:gosec // The caller names the directory.
	if os.IsNotExist(err) {
		return nil
	}

	if err != nil {
		return err
	}

	table := &bytes.Buffer{}
	if err := printTable(table, r); err != nil {
		return err
	}

	replaced, err := replaceTable(string(text), table.String())
	if err != nil {
		return errors.Wrap(err, path)
	}

	return save(dir, page, replaced)
}

// save a file of the documentation, which everyone may read.
func save(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) //nolint:gosec // See above. The caller names the directory.
}

// replaceTable returns the text with another table between the two comments.
func replaceTable(text, table string) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)

	if !ok || !ended {
		return "", errors.Errorf("no place for the table: there is no %q before an %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}

	return before + begin + "\n" + table + "\n" + end + after, nil
}

// dark is the style of a chart on a dark page. The library knows no such pages.
const dark = `<style>@media(prefers-color-scheme:dark){text{fill:#e6edf3!important}}</style>`

// draw returns the chart as an SVG image.
func draw(c charts.ChartOption) (string, error) {
	p, err := charts.Render(c)
	if err != nil {
		return "", err
	}

	image, err := p.Bytes()

	return strings.Replace(string(image), ">", ">"+dark, 1), err
}

// charts of what was measured, by file name.
func (r *report) charts() map[string]charts.ChartOption {
	all := map[string]charts.ChartOption{
		"benchmarks-cost.svg":    r.costChart(),
		"benchmarks-ready.svg":   r.readyChart(),
		"benchmarks-scaling.svg": r.scalingChart(),
		"benchmarks-memory.svg":  r.memoryChart(),
	}
	maps.DeleteFunc(all, func(_ string, c charts.ChartOption) bool {
		return len(c.SeriesList) == 0 || len(c.SeriesList[0].Values) == 0
	})

	return all
}

const fontSize = 8

// newChart returns a chart without a background, for light pages and dark ones.
func newChart(title string, labels []string, series ...charts.GenericSeries) charts.ChartOption {
	small := charts.NewFontStyleWithSize(fontSize)

	return charts.ChartOption{
		OutputFormat: charts.ChartOutputSVG,
		Width:        900,
		Height:       400,
		Theme:        charts.GetTheme(charts.ThemeLight).WithBackgroundColor(charts.ColorTransparent),
		Title:        charts.TitleOption{Text: title},
		Legend:       charts.LegendOption{FontStyle: small, Offset: charts.OffsetRight},
		XAxis:        charts.XAxisOption{Labels: labels, LabelFontStyle: small, LabelCount: len(labels)},
		YAxis:        []charts.YAxisOption{{LabelFontStyle: small, Min: new(0.0)}},
		SeriesList:   series,
	}
}

// plotted returns a series of measured values, which are written beside their points.
func plotted(kind, name string, values []float64) charts.GenericSeries {
	return charts.GenericSeries{Type: kind, Name: name, Values: values, Label: charts.SeriesLabel{
		Show:           new(true),
		FontStyle:      charts.NewFontStyleWithSize(fontSize),
		ValueFormatter: func(v float64) string { return fmt.Sprintf("%.2f", v) },
	}}
}

func (r *report) costChart() charts.ChartOption {
	var (
		labels          []string
		instance, floor []float64
	)

	for _, m := range r.Cost {
		if m.Phase == restart {
			continue
		}

		labels = append(labels, m.Module+", "+m.Phase)
		instance = append(instance, m.each(m.Instance.cpu()))
		floor = append(floor, m.each(m.Floor.cpu()))
	}

	return newChart("CPU time of a Workspace, in seconds", labels,
		plotted(charts.ChartTypeBar, "provider and its CLI", instance), plotted(charts.ChartTypeBar, "bare CLI", floor))
}

// readyChart shows the times to Ready of the bursts with the first module.
func (r *report) readyChart() charts.ChartOption {
	var series []charts.GenericSeries

	for _, m := range r.Bursts {
		if m.Module == r.Bursts[0].Module {
			series = append(series, plotted(charts.ChartTypeLine, fmt.Sprintf("--max-reconcile-rate=%d", m.Rate), m.Ready))
		}
	}

	return newChart("Time to Ready, created at once, in seconds", []string{"the first", "a quarter", "one half", "three quarters", "all"}, series...)
}

func (r *report) scalingChart() charts.ChartOption {
	var (
		labels          []string
		measured, ideal []float64
	)

	for _, s := range r.Scaling {
		one := r.Scaling[0]

		labels = append(labels, plural(s.Shards, "shard"))
		measured = append(measured, s.gain(one))
		ideal = append(ideal, float64(s.Shards)/float64(one.Shards))
	}

	return newChart("Throughput of slow applies on shards, one shard = 1", labels,
		plotted(charts.ChartTypeLine, "measured", measured), charts.GenericSeries{Type: charts.ChartTypeLine, Name: "ideal", Values: ideal})
}

func (r *report) memoryChart() charts.ChartOption {
	var (
		labels              []string
		alone, shard, ideal []float64
	)

	for _, m := range r.Memory {
		if m.Shards == 1 {
			labels = append(labels, strconv.Itoa(m.Workspaces))
			alone = append(alone, m.held()/1e6)

			continue
		}

		shard = append(shard, m.held()/1e6)
		ideal = append(ideal, r.alone(m.Workspaces).held()/float64(m.Shards)/1e6)
	}

	return newChart("Heap for Workspaces, in MB per instance", labels,
		plotted(charts.ChartTypeLine, "one instance", alone),
		plotted(charts.ChartTypeLine, "each of "+plural(split, "shard"), shard),
		charts.GenericSeries{Type: charts.ChartTypeLine, Name: "ideal share", Values: ideal})
}
