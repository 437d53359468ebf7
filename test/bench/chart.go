// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of a chart, in pixels.
const (
	chartWidth  = 640
	chartHeight = 320
	plotLeft    = 60
	plotRight   = chartWidth - 20
	plotTop     = 64
	plotBottom  = chartHeight - 40
)

// style of a chart. It has no background: the colors suit a light page and a dark one.
const style = `text{font:13px sans-serif;fill:#24292f}.title{font-size:15px;font-weight:bold}.grid{stroke:#8c959f;stroke-opacity:.35}` +
	`.s0{fill:#0969da;stroke:#0969da}.s1{fill:#e16f24;stroke:#e16f24}.s2{fill:#8c959f;stroke:#8c959f}rect{stroke:none!important}path{fill:none!important;stroke-width:2}` +
	`.ideal{stroke-dasharray:5 4}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.s0{fill:#58a6ff;stroke:#58a6ff}.s1{fill:#f0883e;stroke:#f0883e}}`

// A chart shows some series of values, one for each of its labels.
type chart struct {
	title  string
	unit   string
	labels []string
	series []plotted
}

type plotted struct {
	name   string
	values []float64

	// ideal says that the series is calculated and not measured.
	ideal bool
}

// draw the chart as an SVG image. The supplied method draws the values.
func (c chart) draw(values func(c chart, s *strings.Builder, top float64)) string {
	s := &strings.Builder{}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img"><title>%s</title><style>%s</style>`+"\n",
		chartWidth, chartHeight, html.EscapeString(c.title), style)
	fmt.Fprintf(s, `<text class="title" x="%d" y="22">%s</text>`+"\n", plotLeft, html.EscapeString(c.title))

	x := float64(plotLeft)
	for n, p := range c.series {
		fmt.Fprintf(s, `<rect class="s%d" x="%.0f" y="36" width="12" height="12"/><text x="%.0f" y="47">%s</text>`+"\n", n, x, x+17, html.EscapeString(p.name))
		x += 40 + 7*float64(len(p.name))
	}

	step, top := scale(c.highest())
	for v := 0.0; v <= top+step/2; v += step {
		y := c.y(v, top)
		fmt.Fprintf(s, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			plotLeft, plotRight, y, y, plotLeft-8, y+4, math.Round(v*1e6)/1e6)
	}

	fmt.Fprintf(s, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", plotRight, plotTop-17, html.EscapeString(c.unit))

	for n, l := range c.labels {
		fmt.Fprintf(s, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", c.x(n), plotBottom+20, html.EscapeString(l))
	}

	values(c, s, top)
	s.WriteString("</svg>\n")

	return s.String()
}

func (c chart) bars(s *strings.Builder, top float64) {
	width := c.slot() * 0.7 / float64(len(c.series))

	for n, p := range c.series {
		for i, v := range p.values {
			x := c.x(i) + (float64(n)-float64(len(c.series))/2)*width
			y := c.y(v, top)
			fmt.Fprintf(s, `<rect class="s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, n, x, y, width-3, plotBottom-y)
			fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="middle">%.2f</text>`+"\n", x+width/2-1.5, y-5, v)
		}
	}
}

func (c chart) lines(s *strings.Builder, top float64) {
	for n, p := range c.series {
		class, path := fmt.Sprintf("s%d", n), &strings.Builder{}
		if p.ideal {
			class += " ideal"
		}

		command := "M"
		for i, v := range p.values {
			fmt.Fprintf(path, "%s%.1f %.1f", command, c.x(i), c.y(v, top))
			command = "L"

			if !p.ideal {
				fmt.Fprintf(s, `<circle class="%s" cx="%.1f" cy="%.1f" r="3"/><text x="%.1f" y="%.1f" text-anchor="middle">%.2f</text>`+"\n",
					class, c.x(i), c.y(v, top), c.x(i), c.y(v, top)-9, v)
			}
		}

		fmt.Fprintf(s, `<path class="%s" d="%s"/>`+"\n", class, path)
	}
}

func (c chart) slot() float64 { return float64(plotRight-plotLeft) / float64(len(c.labels)) }

func (c chart) x(label int) float64 { return plotLeft + c.slot()*(float64(label)+0.5) }

func (c chart) y(v, top float64) float64 { return plotBottom - v/top*(plotBottom-plotTop) }

func (c chart) highest() float64 {
	highest := 0.0

	for _, p := range c.series {
		for _, v := range p.values {
			highest = max(highest, v)
		}
	}

	return highest
}

// scale returns the distance of the lines of a grid, and the highest of them, for
// values up to the supplied one.
func scale(highest float64) (step, top float64) {
	if highest <= 0 {
		return 1, 1
	}

	step = math.Pow(10, math.Floor(math.Log10(highest)))

	for highest/step < 3 {
		step /= 2
	}

	return step, step * math.Ceil(highest*1.05/step)
}
