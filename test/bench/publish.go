// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// dark is the style of a chart on a dark page. The library knows no such pages, and gives each
// line its color: those of the grid and of the axes are in newChart.
const dark = `<style>@media(prefers-color-scheme:dark){text{fill:#e6edf3!important}` +
	`path[style*="rgb(225,228,232)"]{stroke:#262c36!important}path[style*="rgb(110,118,129)"]{stroke:#484f58!important}}</style>`

// draw returns the chart as an SVG image. The library would write the title of the x axis over the
// labels of that axis.
func draw(c charts.ChartOption) (string, error) {
	axis := c.XAxis.Title
	c.XAxis.Title = ""

	p, err := charts.Render(c)
	if err != nil {
		return "", err
	}

	image, err := p.Bytes()
	title := fmt.Sprintf(`<text x="%d" y="%d" text-anchor="middle" style="fill:rgb(70,70,70);font-size:12px;font-family:sans-serif">%s</text></svg>`,
		width/2, height-4, html.EscapeString(axis))

	return strings.Replace(strings.Replace(string(image), ">", ">"+dark, 1), "</svg>", title, 1), err
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

// Sizes of a chart.
const (
	width    = 900
	height   = 400
	fontSize = 8
)

// newChart returns a chart without a background, for light pages and dark ones. The titles are of
// the chart, which names the unit of the values, and of the x axis.
func newChart(title, axis string, labels []string, series ...charts.GenericSeries) charts.ChartOption {
	small := charts.NewFontStyleWithSize(fontSize)
	blue, orange, gray := charts.ColorRGB(47, 129, 247), charts.ColorRGB(219, 109, 40), charts.ColorRGB(139, 148, 158)

	colors := []charts.Color{blue, orange, gray}
	if len(series) > 1 && series[1].Name == ideal {
		colors = []charts.Color{blue, gray}
	}

	theme := charts.GetTheme(charts.ThemeLight).WithBackgroundColor(charts.ColorTransparent).
		WithAxisSplitLineColor(charts.ColorRGB(225, 228, 232)).WithXAxisColor(charts.ColorRGB(110, 118, 129)).
		WithSeriesColors(colors)

	return charts.ChartOption{
		OutputFormat: charts.ChartOutputSVG,
		Width:        width,
		Height:       height,
		Theme:        theme,
		Title:        charts.TitleOption{Text: title},
		Legend:       charts.LegendOption{FontStyle: small, Offset: charts.OffsetRight},
		XAxis:        charts.XAxisOption{Title: axis, TitleFontStyle: small, Labels: labels, LabelFontStyle: small, LabelCount: len(labels)},
		YAxis:        []charts.YAxisOption{{LabelFontStyle: small, Min: new(0.0)}},
		SeriesList:   series,
	}
}

// bars returns a series of measured values, which are written above their bars.
func bars(name string, values []float64) charts.GenericSeries {
	return charts.GenericSeries{Type: charts.ChartTypeBar, Name: name, Values: values, Label: charts.SeriesLabel{
		Show:           new(true),
		FontStyle:      charts.NewFontStyleWithSize(fontSize),
		ValueFormatter: func(v float64) string { return fmt.Sprintf("%.2f", v) },
	}}
}

// line returns a series of values. If it is labelled, the last value is written beside its point:
// the others would be on the line.
func line(name string, labelled bool, values []float64) charts.GenericSeries {
	return charts.GenericSeries{Type: charts.ChartTypeLine, Name: name, Values: values, Label: charts.SeriesLabel{
		Show:      &labelled,
		FontStyle: charts.NewFontStyleWithSize(fontSize),
		// The library passes the index of the series: a point is known by its value.
		LabelFormatter: func(_ int, _ string, v float64) (string, *charts.LabelStyle) {
			if v != values[len(values)-1] {
				return "", nil
			}

			return fmt.Sprintf("%.2f", v), nil
		},
	}}
}

// ideal is the name of a series that is not measured.
const ideal = "ideal"

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

	return newChart("CPU time of a Workspace, in seconds", "module and phase", labels,
		bars("provider and its CLI", instance), bars("bare CLI", floor))
}

// readyChart shows the times to Ready of the bursts with the first module.
func (r *report) readyChart() charts.ChartOption {
	var series []charts.GenericSeries

	for _, m := range r.Bursts {
		if m.Module == r.Bursts[0].Module {
			series = append(series, line(fmt.Sprintf("--max-reconcile-rate=%d", m.Rate), true, m.Ready))
		}
	}

	return newChart("Time to Ready, in seconds", "part of the Workspaces that were created at once", []string{"the first", "a quarter", "one half", "three quarters", "all"}, series...)
}

func (r *report) scalingChart() charts.ChartOption {
	var (
		labels            []string
		measured, perfect []float64
	)

	for _, s := range r.Scaling {
		one := r.Scaling[0]

		labels = append(labels, strconv.Itoa(s.Shards))
		measured = append(measured, s.gain(one))
		perfect = append(perfect, float64(s.Shards)/float64(one.Shards))
	}

	return newChart("Throughput of slow applies, one shard = 1", "shards", labels, line("measured", true, measured), line(ideal, false, perfect))
}

// memoryChart has a label for every thousand Workspaces, so that their number is in proportion. A
// line between two measurements is straight.
func (r *report) memoryChart() charts.ChartOption {
	const step = 1000

	alone, shard, share := map[int]float64{}, map[int]float64{}, map[int]float64{}

	for _, m := range r.Memory {
		n := m.Workspaces / step

		if m.Shards == 1 {
			alone[n] = m.held() / 1e6

			continue
		}

		shard[n] = m.held() / 1e6
		share[n] = r.alone(m.Workspaces).held() / float64(m.Shards) / 1e6
	}

	if len(alone) == 0 {
		return charts.ChartOption{}
	}

	measured := slices.Sorted(maps.Keys(alone))
	first, last := measured[0], measured[len(measured)-1]

	var labels []string
	for n := first; n <= last; n++ {
		labels = append(labels, thousands(n*step))
	}

	return newChart("Heap for Workspaces, in MB per instance", "Workspaces in all", labels,
		line("one instance", true, between(measured, alone)),
		line("each of "+plural(split, "shard"), true, between(measured, shard)),
		line(ideal+" share", false, between(measured, share)))
}

// between returns the values from the first of the measured numbers to the last, with those between
// two measurements on a straight line.
func between(measured []int, values map[int]float64) []float64 {
	var all []float64

	for i, n := range measured[:len(measured)-1] {
		next := measured[i+1]

		for k := n; k < next; k++ {
			all = append(all, values[n]+(values[next]-values[n])*float64(k-n)/float64(next-n))
		}
	}

	return append(all, values[measured[len(measured)-1]])
}

// thousands returns a number with a comma, as 10,000.
func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
