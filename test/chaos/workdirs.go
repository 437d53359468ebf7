// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
)

// A place is the workdir of one Workspace.
type place struct{ root, uid string }

// deletedWorkdirs returns the workdirs that were deleted although their Workspace was
// there and nobody had asked for its deletion: a run found one fresh that another run
// had used, or it is missing in the end. removed is when the deletion of a Workspace
// was asked for, by UID; missing are the workdirs of all Workspaces left that are not
// there.
func deletedWorkdirs(runs []run, removed map[string]int64, missing []place, c clock) []violation {
	var found []violation

	used := map[place]run{}

	for _, r := range runs {
		p := place{root: r.root, uid: r.uid}
		old, known := used[p]
		used[p] = r

		if at, ok := removed[r.uid]; ok && r.start >= at {
			continue
		}

		if known && r.fresh {
			found = append(found, violation{
				workspace: r.workspace,
				time:      r.start,
				instances: []string{old.instance, r.instance},
				text:      fmt.Sprintf("%s/%s was deleted between\n%s\nand\n%s", r.root, r.uid, old.describe(c), r.describe(c)),
			})
		}
	}

	for _, p := range missing {
		if r, ok := used[p]; ok {
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
