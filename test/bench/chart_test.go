// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestCharts checks that charts are well-formed, have their texts, and stay within their
// edges.
func TestCharts(t *testing.T) {
	t.Parallel()

	charts := newReport().charts()

	for name, want := range map[string][]string{
		"benchmarks-cost.svg":    {"CPU time of a Workspace", "m, creation", "m, poll", "1.25", "bare CLI"},
		"benchmarks-scaling.svg": {"Slow applies on shards", "1 shard", "4 shards", "3.80", "ideal"},
		"benchmarks-memory.svg":  {"Heap for Workspaces", "100", "20.00", "11.00", "each of 2 shards"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			texts := map[string]bool{}

			for d := xml.NewDecoder(strings.NewReader(charts[name])); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}

				if err != nil {
					t.Fatal(err)
				}

				switch token := token.(type) {
				case xml.CharData:
					texts[string(token)] = true
				case xml.StartElement:
					expectInside(t, token)
				}
			}

			for _, text := range want {
				if !texts[text] {
					t.Errorf("%q is not in the chart", text)
				}
			}
		})
	}
}

// expectInside checks that an element is within the edges of a chart.
func expectInside(t *testing.T, e xml.StartElement) {
	t.Helper()

	limits := map[string]float64{"x": chartWidth, "x1": chartWidth, "x2": chartWidth, "cx": chartWidth, "y": chartHeight, "y1": chartHeight, "y2": chartHeight, "cy": chartHeight}

	for _, a := range e.Attr {
		limit, ok := limits[a.Name.Local]
		if !ok {
			continue
		}

		if v, err := strconv.ParseFloat(a.Value, 64); err != nil || v < 0 || v > limit {
			t.Errorf("%s has %s=%q: want a number from 0 to %g", e.Name.Local, a.Name.Local, a.Value, limit)
		}
	}
}

func TestScale(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason    string
		highest   float64
		step, top float64
	}{
		"Nothing": {reason: "There is a scale even if there is nothing to show.", highest: 0, step: 1, top: 1},
		"One":     {reason: "There are at least three lines, above all that is shown.", highest: 1, step: 0.25, top: 1.25},
		"Hundred": {reason: "Steps are as round as the values are large.", highest: 120, step: 25, top: 150},
		"Small":   {reason: "Values may be small.", highest: 0.04, step: 0.01, top: 0.05},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			step, top := scale(tc.highest)
			if step != tc.step || top != tc.top {
				t.Errorf("\n%s\nscale(%g): want %g, %g, got %g, %g", tc.reason, tc.highest, tc.step, tc.top, step, top)
			}
		})
	}
}
