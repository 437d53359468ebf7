// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// page has the table between two comments.
const (
	page  = "benchmarks.md"
	begin = "<!-- begin table -->\n"
	end   = "<!-- end table -->\n"
)

// publish draws the charts of a report into the supplied directory, and puts its table
// into the page there, if there is one.
func publish(r *report, dir string) error {
	for name, image := range r.charts() {
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

// charts of the measurements, by file name.
func (r *report) charts() map[string]string {
	all := map[string]string{}

	if len(r.Cost) > 0 {
		all["benchmarks-cost.svg"] = r.costChart().draw(chart.bars)
	}

	if len(r.Bursts) > 0 {
		all["benchmarks-ready.svg"] = r.readyChart().draw(chart.lines)
	}

	if len(r.Scaling) > 0 {
		all["benchmarks-scaling.svg"] = r.scalingChart().draw(chart.lines)
	}

	if len(r.Memory) > 0 {
		all["benchmarks-memory.svg"] = r.memoryChart().draw(chart.lines)
	}

	return all
}

func (r *report) costChart() chart {
	c := chart{title: "CPU time of a Workspace", unit: "seconds"}
	instance, floor := plotted{name: "provider and its CLI"}, plotted{name: "bare CLI"}

	for _, m := range r.Cost {
		if m.Phase == restart {
			continue
		}

		c.labels = append(c.labels, m.Module+", "+m.Phase)
		instance.values = append(instance.values, m.each(m.Instance.cpu()))
		floor.values = append(floor.values, m.each(m.Floor.cpu()))
	}

	c.series = []plotted{instance, floor}

	return c
}

// readyChart shows the times to Ready of the bursts with the first module.
func (r *report) readyChart() chart {
	c := chart{title: "Time to Ready, created at once", unit: "seconds", labels: []string{"the first", "a quarter", "one half", "three quarters", "all"}}

	for _, m := range r.Bursts {
		if m.Module == r.Bursts[0].Module {
			c.series = append(c.series, plotted{name: fmt.Sprintf("--max-reconcile-rate=%d", m.Rate), values: m.Ready})
		}
	}

	return c
}

func (r *report) scalingChart() chart {
	c := chart{title: "Slow applies on shards", unit: "throughput, one shard = 1"}
	measured, ideal := plotted{name: "measured"}, plotted{name: "ideal", ideal: true}

	for _, s := range r.Scaling {
		one := r.Scaling[0]

		c.labels = append(c.labels, plural(s.Shards, "shard"))
		measured.values = append(measured.values, s.gain(one))
		ideal.values = append(ideal.values, float64(s.Shards)/float64(one.Shards))
	}

	c.series = []plotted{measured, ideal}

	return c
}

func (r *report) memoryChart() chart {
	c := chart{title: "Heap for Workspaces", unit: "MB per instance"}
	alone, shard, ideal := plotted{name: "one instance"}, plotted{}, plotted{name: "ideal share", ideal: true}

	for _, m := range r.Memory {
		if m.Shards == 1 {
			c.labels = append(c.labels, strconv.Itoa(m.Workspaces))
			alone.values = append(alone.values, m.held()/1e6)

			continue
		}

		shard.name = "each of " + plural(m.Shards, "shard")
		shard.values = append(shard.values, m.held()/1e6)
		ideal.values = append(ideal.values, r.alone(m.Workspaces).held()/float64(m.Shards)/1e6)
	}

	c.series = []plotted{alone, shard, ideal}

	return c
}
