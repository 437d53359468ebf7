// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"slices"
)

// A place is the workdir of one Workspace.
type place struct{ root, uid string }

// An absence is that of a workdir at a time.
type absence struct {
	place

	time int64
}

// deletedWorkdirs returns the workdirs that were deleted although their Workspace existed
// and its deletion was not requested: a run found an empty one that another run had used,
// or it is missing at the end. removed is the time of the request to delete a Workspace,
// by UID. missing are the missing workdirs of all remaining Workspaces. A workdir that is
// first used after the request was not deleted.
func deletedWorkdirs(runs []run, removed map[string]int64, missing []absence, c clock) []violation {
	var found []violation

	used := map[place][]run{}

	for _, r := range runs {
		p := place{root: r.root, uid: r.uid}
		known := used[p]
		used[p] = append(known, r)

		if at, ok := removed[r.uid]; ok && r.start >= at {
			continue
		}

		if len(known) > 0 && r.fresh {
			old := known[len(known)-1]
			found = append(found, violation{
				workspace: r.workspace,
				time:      r.start,
				instances: []string{old.instance, r.instance},
				text:      fmt.Sprintf("%s/%s was deleted between\n%s\nand\n%s", r.root, r.uid, old.describe(c), r.describe(c)),
			})
		}
	}

	for _, m := range missing {
		before := slices.DeleteFunc(slices.Clone(used[m.place]), func(r run) bool { return r.start > m.time })
		if len(before) > 0 {
			r := before[len(before)-1]
			found = append(found, violation{
				workspace: r.workspace,
				time:      r.start,
				instances: []string{r.instance},
				text:      fmt.Sprintf("%s/%s was deleted after\n%s", r.root, r.uid, r.describe(c)),
			})
		}
	}

	return found
}
