// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
)

// Measures of the picture, in pixels. Each Workspace is a lane, and each step a column.
const (
	left        = 62
	top         = 80
	column      = 236
	columnGap   = 48
	lane        = 16
	laneGap     = 4
	pictureEdge = 12
)

// pictureStyle has colors for light pages and for dark ones. The background is that of the page.
const pictureStyle = `<style>
text{font:13px -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-size:14px;font-weight:600}
.faint{fill:#59636e;font-size:12px}
.s0{fill:#0969da}.s1{fill:#bc4c00}.s2{fill:#1a7f37}
@media(prefers-color-scheme:dark){
text{fill:#f0f6fc}
.faint{fill:#9198a1}
.s0{fill:#4493f8}.s1{fill:#f0883e}.s2{fill:#3fb950}
}
</style>
`

// A picture is the text of an SVG.
type picture struct {
	strings.Builder

	record  *record
	servers []string
}

// draw returns the picture as SVG: what each step is, and the instance that serves each Workspace
// after it.
func (r *record) draw() string {
	p := &picture{record: r, servers: r.servers()}
	lanes := r.lanes()
	bottom := top + len(lanes)*(lane+laneGap)

	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`, p.x(len(r.Steps))-columnGap+pictureEdge, bottom+30)
	p.addf("<!--\nSPDX-FileCopyrightText: The provider-terraform Authors\n\nSPDX-License-Identifier: Apache-2.0\n-->")
	p.addf("<title>Which instance serves each of %d Workspaces after each step</title>", len(lanes))
	p.WriteString(pictureStyle)

	for n, server := range p.servers {
		p.addf(`<rect x="%d" y="8" width="12" height="12" rx="2" class="%s"/>`, left+n*84, p.class(server))
		p.text(left+n*84+18, 19, "", "start", server)
	}

	for n, s := range r.Steps {
		p.text(p.x(n), 48, "title", "start", s.What)
		p.text(p.x(n), 66, "faint", "start", fmt.Sprintf("all served after %.1f s", s.Seconds))
		p.counts(n, bottom+20)
	}

	for n, name := range lanes {
		p.lane(name, top+n*(lane+laneGap))
	}

	p.addf("</svg>")

	return p.String()
}

// add a line.
func (p *picture) addf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *picture) text(x, y int, class, anchor, text string) {
	p.addf(`<text x="%d" y="%d" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, html.EscapeString(text))
}

// x is where the column of a step begins.
func (p *picture) x(step int) int { return left + step*(column+columnGap) }

// class of a server, for its color. There are as many colors as instances in the story.
func (p *picture) class(server string) string {
	return fmt.Sprintf("s%d", slices.Index(p.servers, server))
}

// lane draws a bar for each step. Bars are connected if the instance is the same, and have an arrow
// between them if the Workspace has moved.
func (p *picture) lane(name string, y int) {
	p.text(left-8, y+lane-4, "faint", "end", name)

	for n, s := range p.record.Steps {
		server := s.ServedBy[name]
		x := p.x(n)

		p.addf(`<rect x="%d" y="%d" width="%d" height="%d" rx="3" class="%s"/>`, x, y, column, lane, p.class(server))

		if n == 0 {
			continue
		}

		if p.record.Steps[n-1].ServedBy[name] == server {
			p.addf(`<rect x="%d" y="%d" width="%d" height="%d" class="%s" opacity="0.3"/>`, x-columnGap, y+lane/2-2, columnGap, 4, p.class(server))
		} else {
			p.addf(`<path d="M%d %dh%dv-4l10 6l-10 6v-4h-%dz" class="%s"/>`, x-columnGap+6, y+lane/2-2, columnGap-22, columnGap-22, p.class(server))
		}
	}
}

// counts writes below a column how many Workspaces each instance serves.
func (p *picture) counts(step, y int) {
	counts := map[string]int{}
	for _, server := range p.record.Steps[step].ServedBy {
		counts[server]++
	}

	var parts []string
	for _, server := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(`<tspan class="%s">%s: %d</tspan>`, p.class(server), server, counts[server]))
	}

	p.addf(`<text x="%d" y="%d">%s</text>`, p.x(step), y, strings.Join(parts, " &#160; "))
}

// servers are all instances, by name.
func (r *record) servers() []string {
	names := map[string]bool{}

	for _, s := range r.Steps {
		for _, server := range s.ServedBy {
			names[server] = true
		}
	}

	return slices.Sorted(maps.Keys(names))
}

// lanes returns the Workspaces in an order that puts those together that moved together.
func (r *record) lanes() []string {
	return slices.SortedFunc(maps.Keys(r.Steps[0].ServedBy), func(a, b string) int {
		for _, s := range r.Steps {
			if c := strings.Compare(s.ServedBy[a], s.ServedBy[b]); c != 0 {
				return c
			}
		}

		return cmp.Compare(a, b)
	})
}
