// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
)

func TestDeletedWorkdirs(t *testing.T) {
	t.Parallel()

	fresh := func(r run) run {
		r.fresh = true

		return r
	}
	in := func(root string, r run) run {
		r.root = root

		return r
	}

	first, second := fresh(newRun("a#1", 5, 10, 20)), newRun("a#1", 6, 30, 40)

	cases := map[string]struct {
		reason  string
		runs    []run
		removed map[string]int64
		missing []absence
		want    []violation
	}{
		"Kept": {
			reason: "A workdir is fresh once.",
			runs:   []run{first, second},
		},
		"OtherRoot": {
			reason: "It is fresh once in every root.",
			runs:   []run{first, in("/s", fresh(second))},
		},
		"Deleted": {
			reason: "A workdir that is empty at two runs was deleted.",
			runs:   []run{first, fresh(second)},
			want:   []violation{{workspace: "ws-1", time: at(30), instances: []string{"a#1", "a#1"}}},
		},
		"DeletedWithWorkspace": {
			reason:  "A workdir may be deleted after the request to delete its Workspace.",
			runs:    []run{first, fresh(second)},
			removed: map[string]int64{"uid-1": at(25)},
		},
		"DeletedBeforeWorkspace": {
			reason:  "It may not go before.",
			runs:    []run{first, fresh(second)},
			removed: map[string]int64{"uid-1": at(35)},
			want:    []violation{{workspace: "ws-1", time: at(30), instances: []string{"a#1", "a#1"}}},
		},
		"Missing": {
			reason:  "A workdir that is missing at the end was deleted.",
			runs:    []run{first, second},
			missing: []absence{{place: place{root: "/r", uid: "uid-1"}, time: at(50)}},
			want:    []violation{{workspace: "ws-1", time: at(30), instances: []string{"a#1"}}},
		},
		"NeverThere": {
			reason:  "A workdir that was never used was not deleted.",
			runs:    []run{first, second},
			missing: []absence{{place: place{root: "/s", uid: "uid-1"}, time: at(50)}, {place: place{root: "/r", uid: "uid-2"}, time: at(50)}},
		},
		"UsedLater": {
			reason:  "A workdir that was missing before its first use was not deleted.",
			runs:    []run{first, second},
			missing: []absence{{place: place{root: "/r", uid: "uid-1"}, time: at(5)}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, deletedWorkdirs(tc.runs, tc.removed, tc.missing, 0))
		})
	}
}
