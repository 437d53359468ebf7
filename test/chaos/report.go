// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A rule has the places where it was broken.
type rule struct {
	name       string
	violations []violation
}

// A report has the results of a chaos test.
type report struct {
	seed    uint64
	elastic bool

	// lasted is for how long there were faults, and settled how long it took from the
	// last one until every Workspace was Ready.
	lasted, settled time.Duration

	runs      []run
	resources []*resource
	notes     []note
	rules     []rule
	clock     clock
}

// ok says whether no rule was broken.
func (r *report) ok() bool {
	return !slices.ContainsFunc(r.rules, func(rule rule) bool { return len(rule.violations) > 0 })
}

// figures writes one table of all there is to count.
func (r *report) figures(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "seed\t%d\n", r.seed)
	fmt.Fprintf(t, "elastic shards\t%t\n", r.elastic)
	fmt.Fprintf(t, "faults for\t%s\n", r.lasted.Round(time.Second))
	fmt.Fprintf(t, "all Ready after\t%s\n", r.settled.Round(time.Second))
	fmt.Fprintf(t, "faults\t%s\n", r.faults())
	fmt.Fprintf(t, "runs of the CLI\t%s\n", r.commands())
	fmt.Fprintf(t, "resources created\t%s\n", r.creations())

	for _, rule := range r.rules {
		fmt.Fprintf(t, "%s\t%d\n", rule.name, len(rule.violations))
	}

	// The writer below is the output of the test, which does not fail.
	_ = t.Flush()
}

// detailed is how many violations of a rule are written out.
const detailed = 20

// details writes the violations with the faults that came before them.
func (r *report) details(out io.Writer) {
	for _, rule := range r.rules {
		for i, v := range rule.violations {
			if i == detailed {
				fmt.Fprintf(out, "\n%s: %d more\n", rule.name, len(rule.violations)-i)

				break
			}

			fmt.Fprintf(out, "\n%s: %s\n  %s\n", rule.name, cmp.Or(v.workspace, "all Workspaces"), indent(v.text))

			for _, n := range before(r.notes, v) {
				fmt.Fprintf(out, "    %s %s\n", r.clock.at(n.time), n.text)
			}
		}
	}
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

func (r *report) faults() string {
	kinds := make([]string, 0, len(r.notes))

	for _, n := range r.notes {
		if n.kind != "" {
			kinds = append(kinds, string(n.kind))
		}
	}

	return tally(kinds)
}

func (r *report) commands() string {
	commands := make([]string, len(r.runs))
	for i, run := range r.runs {
		commands[i] = run.command
	}

	return tally(commands)
}

// creations reports the number of created resources, and the number of those that are in
// no state, by reason: a SIGKILL may leave such resources behind.
func (r *report) creations() string {
	var (
		onDisk int
		why    []string
	)

	for _, res := range r.resources {
		switch {
		case res.saved:
		case res.onDisk():
			onDisk++
		default:
			why = append(why, cmp.Or(excuse(res.by, res.busy, r.notes), "without excuse"))
		}
	}

	return fmt.Sprintf("%d; on a disk %d; in no state %s", len(r.resources), onDisk, tally(why))
}

// tally counts equal words: "5: 3 plan, 2 apply".
func tally(words []string) string {
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}

	parts := make([]string, 0, len(counts))

	for w, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, w))
	}

	slices.SortFunc(parts, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[word(b)], counts[word(a)]), cmp.Compare(word(a), word(b)))
	})

	return fmt.Sprintf("%d: %s", len(words), strings.Join(parts, ", "))
}

// word returns the name of the things that a part of a tally counts.
func word(part string) string {
	_, w, _ := strings.Cut(part, " ")

	return w
}
