// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A table has a row of cells for each Workspace, in the order in which they are shown.
type table [][]cell

// A cell is a piece of text and the SGR code of its color.
type cell struct{ text, color string }

// Columns of a table.
const (
	servedByColumn = 2

	// outputsColumn is shortened if a line is too long.
	outputsColumn = 5

	ageColumn = 6
)

// SGR codes.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// equal says whether both tables show the same, except for the ages.
func (t table) equal(o table) bool {
	return slices.EqualFunc(t, o, func(a, b []cell) bool {
		return slices.Equal(a[:ageColumn], b[:ageColumn])
	})
}

// lines returns the table, each line cut to the supplied width.
func (t table) lines(width int, paint func(color, text string) string) []string {
	var heads []cell
	for _, head := range []string{"NAME", "SHARD", "SERVED BY", "SYNCED", "READY", "OUTPUTS", "AGE"} {
		heads = append(heads, cell{text: head, color: bold})
	}

	all := slices.Concat(table{heads}, t)
	widths := columnWidths(all, width)

	lines := make([]string, 0, len(all))
	for _, line := range all {
		lines = append(lines, join(line, widths, width, paint))
	}

	return lines
}

// gap is between two columns.
const gap = "  "

func columnWidths(cells table, width int) []int {
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

		used += len(gap)

		b.WriteString(paint(c.color, fmt.Sprintf("%-*s", widths[i], cut(c.text, widths[i]))) + gap)
	}

	return strings.TrimRight(b.String(), " ")
}

// bars returns a line for each shard that serves Workspaces, with a block for each of them.
func (t table) bars(width int, paint func(color, text string) string) []string {
	counts, longest := map[string]int{}, 0

	for _, r := range t {
		server := r[servedByColumn].text
		counts[server]++
		longest = max(longest, utf8.RuneCountInString(server))
	}

	lines := make([]string, 0, len(counts))

	for _, server := range slices.Sorted(maps.Keys(counts)) {
		n := counts[server]
		number := fmt.Sprintf(" %d", n)
		bar := strings.Repeat("█", min(n, max(0, width-longest-len(gap)-len(number))))
		lines = append(lines, fmt.Sprintf("%-*s", longest, server)+gap+paint(cyan, bar)+number)
	}

	return lines
}
