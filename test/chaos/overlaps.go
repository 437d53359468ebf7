// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"slices"
	"time"
)

// slack is the maximum delay between the record of a run and the record of another run
// that saw it: each run is marked first, then it looks for other marks, then it is
// recorded.
const slack = time.Second

// overlaps returns the pairs of runs for one Workspace of which the later started
// before the earlier had ended: the first for each of the earlier and each instance.
func overlaps(runs []run, c clock) []violation {
	var found []violation

	type pair struct {
		uid, instance string
		pid           int
	}

	known := map[pair]bool{}

	for _, r := range runs {
		for _, pid := range r.beside {
			p := pair{uid: r.uid, instance: r.instance, pid: pid}
			if known[p] {
				continue
			}

			known[p] = true

			v := violation{workspace: r.workspace, time: r.start, instances: []string{r.instance}}

			first := fmt.Sprintf("a run that was not written down yet (process %d)", pid)
			if i := lastRun(runs, r.uid, pid, r.start+int64(slack)); i >= 0 {
				first = runs[i].describe(c)
				v.instances = append(v.instances, runs[i].instance)
			}

			v.text = first + "\nhad not ended at the start of\n" + r.describe(c)
			found = append(found, v)
		}
	}

	return found
}

// stateOverlaps returns the pairs of runs that changed one state at the same time. The lock
// of the state keeps runs for all Workspaces but one from changing anything:
// a run that has changed something has had the lock, and has it until it ends.
func stateOverlaps(runs []run, ledger []entry, c clock) []violation {
	var found []violation

	// works are the runs that have changed something.
	var works []*run

	for _, e := range ledger {
		r := doer(runs, e)
		if r == nil || r.state == "" || slices.Contains(works, r) {
			continue
		}

		for _, w := range works {
			if w.state != r.state || w.end != 0 && w.end-int64(moment) <= e.time {
				continue
			}

			found = append(found, violation{
				workspace: r.workspace,
				others:    besides(r.workspace, w.workspace),
				time:      e.time,
				instances: instancesOf(w, r),
				text:      fmt.Sprintf("%s for %s\nwas changing %s when\n%s for %s\nbegan to, too, at %s", w.describe(c), w.workspace, r.state, r.describe(c), r.workspace, c.at(e.time)),
			})
		}

		works = append(works, r)
	}

	return found
}

// describe says all about a run in a line.
func (r *run) describe(c clock) string {
	end := "to the end of the test"
	if r.end != 0 {
		end = "until " + c.at(r.end)
	}

	return fmt.Sprintf("%-10s by %-6s (process %d, from %s %s, in %s)", r.command, r.instance, r.pid, c.at(r.start), end, r.root)
}
