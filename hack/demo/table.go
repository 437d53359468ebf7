// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// A row is one Workspace as the table shows it.
type row struct {
	// name, with its namespace if it has one.
	name string

	// shard is the value of its label, empty if it has none.
	shard string

	// servedBy is the shard of the instance that works on it, empty if none does.
	servedBy string

	// synced and ready are the status of these conditions, empty if it has none.
	synced, ready string

	outputs string
	age     time.Duration
}

// A table is all Workspaces, in the order in which they are shown.
type table []row

// equal says whether both tables show the same, except for the ages.
func (t table) equal(o table) bool {
	return slices.EqualFunc(t, o, func(a, b row) bool {
		a.age, b.age = 0, 0

		return a == b
	})
}

// A cell is a piece of text and the SGR code of its color.
type cell struct{ text, color string }

const (
	bold   = "1"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// lines returns the table, each line cut to the supplied width.
func (t table) lines(width int, paint func(color, text string) string) []string {
	cells := make([][]cell, 1, len(t)+1)

	for _, head := range []string{"NAME", "SHARD", "SERVED BY", "SYNCED", "READY", "OUTPUTS", "AGE"} {
		cells[0] = append(cells[0], cell{text: head, color: bold})
	}

	for _, r := range t {
		cells = append(cells, r.cells())
	}

	widths := columnWidths(cells, width)

	lines := make([]string, 0, len(cells))
	for _, line := range cells {
		lines = append(lines, join(line, widths, width, paint))
	}

	return lines
}

func (r row) cells() []cell {
	server := cell{text: "none", color: yellow}
	if r.servedBy != "" {
		server = cell{text: r.servedBy, color: cyan}
	}

	return []cell{
		{text: r.name},
		{text: cmp.Or(r.shard, "-")},
		server,
		condition(r.synced),
		condition(r.ready),
		{text: cmp.Or(r.outputs, "-")},
		{text: duration.HumanDuration(r.age)},
	}
}

func condition(status string) cell {
	if status == "True" {
		return cell{text: status, color: green}
	}

	return cell{text: cmp.Or(status, "-"), color: yellow}
}

// outputsColumn is the column that is shortened if a line is too long.
const outputsColumn = 5

// gap is between two columns.
const gap = "  "

func columnWidths(cells [][]cell, width int) []int {
	widths := make([]int, len(cells[0]))
	over := len(gap)*(len(widths)-1) - width

	for i := range widths {
		for _, line := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i].text))
		}

		over += widths[i]
	}

	if over > 0 {
		widths[outputsColumn] = max(len("OUTPUTS"), widths[outputsColumn]-over)
	}

	return widths
}

// join returns the cells as a line of at most the supplied width: cells that do not
// fit are left out.
func join(line []cell, widths []int, width int, paint func(color, text string) string) string {
	var b strings.Builder

	used := 0

	for i, c := range line {
		if used += widths[i]; used > width {
			break
		}

		text := cut(c.text, widths[i])
		used += len(gap)

		b.WriteString(paint(c.color, text) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)) + gap)
	}

	return strings.TrimRight(b.String(), " ")
}

// bars returns a line for each shard that serves Workspaces, with a block for each of them.
func (t table) bars(width int, paint func(color, text string) string) []string {
	counts, longest := map[string]int{}, 0

	for _, r := range t {
		server := cmp.Or(r.servedBy, "none")
		counts[server]++
		longest = max(longest, utf8.RuneCountInString(server))
	}

	lines := make([]string, 0, len(counts))

	for _, server := range slices.Sorted(maps.Keys(counts)) {
		n := counts[server]
		number := fmt.Sprintf(" %d", n)
		bar := strings.Repeat("█", min(n, max(0, width-longest-len(gap)-len(number))))
		lines = append(lines, server+strings.Repeat(" ", longest-utf8.RuneCountInString(server))+gap+paint(cyan, bar)+number)
	}

	return lines
}
