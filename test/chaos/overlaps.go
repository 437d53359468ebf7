// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"time"
)

// slack is how much later than a run that saw it another may have been written down:
// each is marked first, then it looks, then it is written down.
const slack = time.Second

// overlaps returns the pairs of runs for one Workspace of which the later started
// before the earlier had ended.
func overlaps(runs []run, c clock) []violation {
	var found []violation

	for _, r := range runs {
		for _, pid := range r.beside {
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

// describe says all about a run in a line.
func (r run) describe(c clock) string {
	end := "to the end of the test"
	if r.end != 0 {
		end = "until " + c.at(r.end)
	}

	return fmt.Sprintf("%-10s by %-6s (process %d, from %s %s, in %s)", r.command, r.instance, r.pid, c.at(r.start), end, r.root)
}
