// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Targets.
const (
	creationTarget = 1.25
	pollTarget     = 1.15
	scalingTarget  = 0.95

	// rssTarget is in bytes, for one instance with all Workspaces.
	rssTarget = 150e6

	// deletionTarget is for the CPU time and for the time.
	deletionTarget = 1.8

	// Runs of the CLI of a deletion, and API requests of a creation, without those of the CLI.
	deletionRunsTarget     = 2
	creationRequestsTarget = 9

	// burstTarget is for the time that a burst takes, beside the bare CLI. halfMargin is how much
	// later than ideal one half of its Workspaces may be Ready, as a part of the time for all.
	burstTarget = 1.25
	halfMargin  = 0.1

	// perMinuteTarget is for applies of 5 s at a rate of 2. It is what the provider reaches whose
	// place this one takes, on a similar machine.
	perMinuteTarget = 15.7

	// Times in seconds. That of a lost node is the duration of the Lease, and a little for the
	// change itself.
	containerTarget = 5
	nodeTarget      = 65
	changeTarget    = 1

	// heapMargin is by how many bytes the heap of the assigner may grow with the Workspaces.
	heapMargin = 5 << 20

	// stormTarget is for the time of overdue polls, beside the bare CLI.
	stormTarget = 1.5
)

// A row of the table: a measurement, the value that it is compared with, and the target.
type row [6]string

// rows of the table, the first of which has the names of the columns.
func (r *report) rows() []row {
	rows := []row{{"what", "measured", "beside", "ratio", "target", "result"}}

	for _, c := range r.Cost {
		rows = append(rows, c.rows()...)
	}

	for _, e := range r.Existing {
		rows = append(rows, e.existingRows(r.of(e.Module, e.Phase))...)
	}

	for _, m := range r.Bursts {
		rows = append(rows, m.rows()...)
	}

	for _, i := range r.Interruptions {
		rows = append(rows, i.row())
	}

	for _, s := range r.Scaling {
		rows = append(rows, s.row(r.Scaling[0]))
	}

	for _, m := range r.Memory {
		rows = append(rows, m.rows(r.alone(m.Workspaces))...)
	}

	for _, a := range r.Assigned {
		rows = append(rows, a.rows(r.Assigned[0])...)
	}

	for _, m := range r.Moves {
		rows = append(rows, m.rows()...)
	}

	return rows
}

func (c cost) rows() []row {
	per := "each"
	if c.Phase == polling {
		per = "each poll"
	}

	name := func(what string) string { return c.Module + ", " + c.Phase + ": " + what }
	cpu, runs := row{name("CPU " + per), seconds(c.each(c.Instance.cpu()))}, row{name("runs " + per), number(c.each(c.Instance.Runs))}

	if c.Floor.Runs > 0 {
		cpu[2], runs[2] = seconds(c.each(c.Floor.cpu()))+" bare CLI", number(c.each(c.Floor.Runs))+" bare CLI"
		target := map[string]float64{creation: creationTarget, polling: pollTarget, deletion: deletionTarget}[c.Phase]
		cpu = cpu.judged(c.Instance.cpu()/c.Floor.cpu(), target, atMost)
	}

	requests := row{name("API requests " + per), number(c.each(c.Requests)), "without those of the CLI"}
	took := row{name(fmt.Sprintf("time for %d Workspaces", c.Workspaces)), seconds(c.Instance.Wall), seconds(c.Floor.Wall) + " bare CLI"}

	var times []row

	switch c.Phase {
	case creation:
		requests = requests.bounded(c.each(c.Requests), creationRequestsTarget, atMost, number)
		times = []row{took, {name("p50, p99 of time to Ready"), seconds(c.P50) + ", " + seconds(c.P99), "all created at once"}}
	case deletion:
		runs = runs.bounded(c.each(c.Instance.Runs), deletionRunsTarget, atMost, number)
		times = []row{took.judged(c.Instance.Wall/c.Floor.Wall, deletionTarget, atMost)}
	}

	rows := []row{cpu, {name("of that the provider itself"), seconds(c.each(c.Instance.Own))}, runs, requests}

	return append(append(rows, times...), row{name("max RSS"), megabytes(float64(c.MaxRSS)), "without the CLI"})
}

// existingRows are those of the existing provider, beside the cost of this one.
func (c cost) existingRows(this cost) []row {
	name := "existing provider, " + c.Module + ", " + c.Phase
	cpu, runs := row{name + ": CPU each", seconds(c.each(c.Instance.cpu()))}, row{name + ": runs each", number(c.each(c.Instance.Runs))}

	if this.Workspaces > 0 {
		cpu[2], cpu[3] = seconds(this.each(this.Instance.cpu()))+" this provider", ratio(this.each(this.Instance.cpu())/c.each(c.Instance.cpu()))
		runs[2] = number(this.each(this.Instance.Runs)) + " this provider"
	}

	rows := []row{cpu, runs}
	if c.Phase == creation {
		rows = append(rows, row{fmt.Sprintf("%s: time for %d Workspaces", name, c.Workspaces), seconds(c.Instance.Wall)})
	}

	return rows
}

func (s scaling) row(one scaling) row {
	r := row{plural(s.Shards, "shard") + ", slow applies: Workspaces per minute", number(60 * s.throughput())}

	if s.Shards == one.Shards {
		return r
	}

	n := float64(s.Shards) / float64(one.Shards)
	r[2] = number(60*one.throughput()) + " on " + plural(one.Shards, "shard")

	return r.judged(s.gain(one), scalingTarget*n, atLeast)
}

// alone returns the memory of one instance that serves that many Workspaces.
func (r *report) alone(workspaces int) memory {
	i := slices.IndexFunc(r.Memory, func(m memory) bool { return m.Workspaces == workspaces && m.Shards == 1 })
	if i < 0 {
		return memory{}
	}

	return r.Memory[i]
}

func (m memory) rows(alone memory) []row {
	name := func(what string) string {
		return fmt.Sprintf("%d Workspaces, %s: %s", m.Workspaces, plural(m.Shards, "instance"), what)
	}

	heap := row{name("heap for Workspaces"), megabytes(m.held())}

	if m.Shards > 1 {
		heap[2] = megabytes(alone.held()) + " on one instance"
		heap[3] = ratio(m.held() / alone.held())
	}

	rows := []row{
		heap,
		{name("heap, RSS"), megabytes(m.Heap) + ", " + megabytes(m.RSS), megabytes(m.Before) + " heap without them"},
		{name("goroutines"), fmt.Sprintf("%.0f", m.Goroutines)},
	}

	if m.MaxRSS > 0 {
		rows = append(rows, row{0: name("max RSS, without settings"), 1: megabytes(m.MaxRSS)}.bounded(m.MaxRSS, rssTarget, atMost, megabytes))
	}

	return rows
}

const (
	atMost  = "at most"
	atLeast = "at least"
)

// judged completes a row with a ratio and a target for that.
func (r row) judged(value, target float64, bound string) row {
	r[3] = ratio(value)

	return r.bounded(value, target, bound, ratio)
}

// bounded completes a row with a target for the measured value itself.
func (r row) bounded(value, target float64, bound string, format func(float64) string) row {
	r[4], r[5] = bound+" "+format(target), "reached"

	if bound == atMost && value > target || bound == atLeast && value < target {
		r[5] = "missed"
	}

	return r
}

// printTable prints the measurements as a Markdown table with aligned columns.
func printTable(out io.Writer, r *report) error {
	s := &strings.Builder{}
	fmt.Fprintf(s, "%s, %s, on %d CPUs (%s), load %.1f before, %s\n\n", r.Version, r.CLI, r.Machine.CPUs, r.Machine.CPU, r.Machine.LoadBefore, r.Date.Format("2006-01-02"))

	for n, row := range r.rows() {
		s.WriteString("| " + strings.Join(row[:], "\t| ") + "\t|\n")

		if n == 0 {
			s.WriteString(strings.Repeat("| ---\t", len(row)) + "|\n")
		}
	}

	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	_, err := io.WriteString(w, s.String())

	return errors.Join(err, w.Flush())
}

func seconds(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.3f s", v)
	}

	return fmt.Sprintf("%.1f s", v)
}

func ratio(v float64) string { return fmt.Sprintf("%.3f", v) }

func number(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", v), ".00") }

func megabytes(v float64) string { return fmt.Sprintf("%.1f MB", v/1e6) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return fmt.Sprintf("%d %ss", n, noun)
}
