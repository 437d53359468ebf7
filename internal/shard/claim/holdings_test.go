// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestHoldings(t *testing.T) {
	t.Parallel()

	const one, two types.UID = "one", "two"

	r := ref{}
	held := func(h *holdings) {
		h.add(r, one, false)
		h.end(r)
	}
	working := func(h *holdings) {
		held(h)
		h.begin(r, one)
	}

	claimedAgain := func(h *holdings) {
		h.add(r, one, false)
		h.accept(r)
		h.end(r)
		h.add(r, one, false)
	}

	// want is the visible state of holdings.
	type want struct {
		OK       bool
		Holds    bool
		Leavable bool
		Unsure   bool
		Due      int
	}

	cases := map[string]struct {
		reason string
		before func(h *holdings)
		do     func(h *holdings) bool
		want   want
	}{
		"Add": {
			reason: "It is held before other instances can know.",
			do:     func(h *holdings) bool { return h.add(r, one, false) },
			want:   want{OK: true, Holds: true},
		},
		"LeaveWhileTaking": {
			reason: "A claim that is not written yet cannot be released.",
			before: func(h *holdings) { h.add(r, one, false) },
			do: func(h *holdings) bool {
				h.left(r, one)

				return true
			},
			want: want{OK: true},
		},
		"Taken": {
			reason: "A Workspace that left while its claim was being written is released after the write.",
			before: func(h *holdings) { h.add(r, one, false); h.left(r, one) },
			do: func(h *holdings) bool {
				h.end(r)

				return true
			},
			want: want{OK: true, Leavable: true, Due: 1},
		},
		"AddAgain": {
			reason: "A claim is written again if a person has removed it.",
			before: held,
			do:     func(h *holdings) bool { return h.add(r, one, false) },
			want:   want{OK: true, Holds: true},
		},
		"Refused": {
			reason: "A Workspace that could not be claimed is not held.",
			before: func(h *holdings) { h.add(r, one, false) },
			do: func(h *holdings) bool {
				h.refuse(r)
				h.end(r)

				return true
			},
			want: want{OK: true},
		},
		"RefusedAgain": {
			reason: "A Workspace that was claimed before still is.",
			before: claimedAgain,
			do: func(h *holdings) bool {
				h.refuse(r)
				h.end(r)

				return true
			},
			want: want{OK: true, Holds: true},
		},
		"LeftAndRefusedAgain": {
			reason: "It has left nevertheless, and its claim must be released.",
			before: func(h *holdings) { claimedAgain(h); h.left(r, one) },
			do: func(h *holdings) bool {
				h.refuse(r)
				h.end(r)

				return true
			},
			want: want{OK: true, Leavable: true, Due: 1},
		},
		"AddWhileWorking": {
			reason: "A Workspace that is being worked on stays recorded.",
			before: working,
			do:     func(h *holdings) bool { return h.add(r, one, false) },
			want:   want{Holds: true},
		},
		"AddWhileLeaving": {
			reason: "The pending release would remove the new claim.",
			before: func(h *holdings) { held(h); h.left(r, one) },
			do:     func(h *holdings) bool { return h.add(r, one, false) },
			want:   want{Leavable: true, Due: 1},
		},
		"Begin": {
			reason: "Work on a held Workspace may begin.",
			before: held,
			do:     func(h *holdings) bool { return h.begin(r, one) },
			want:   want{OK: true, Holds: true},
		},
		"BeginNotHeld": {
			reason: "Work on a Workspace that is not held may not begin.",
			do:     func(h *holdings) bool { return h.begin(r, one) },
		},
		"BeginAnother": {
			reason: "A Workspace of the same name is a different one.",
			before: func(h *holdings) { h.add(r, two, false); h.end(r) },
			do:     func(h *holdings) bool { return h.begin(r, one) },
		},
		"BeginLeaving": {
			reason: "Work on a Workspace that is about to be released may not begin.",
			before: func(h *holdings) { held(h); h.left(r, one) },
			do:     func(h *holdings) bool { return h.begin(r, one) },
			want:   want{Leavable: true, Due: 1},
		},
		"LeaveWhileWorking": {
			reason: "The work continues, and the claim stays until its end.",
			before: working,
			do: func(h *holdings) bool {
				h.leave(r)

				return true
			},
			want: want{OK: true},
		},
		"End": {
			reason: "A Workspace that left during the work is released.",
			before: func(h *holdings) { working(h); h.leave(r) },
			do: func(h *holdings) bool {
				h.end(r)

				return true
			},
			want: want{OK: true, Leavable: true, Due: 1},
		},
		"EndOfNothing": {
			reason: "A Workspace that was never claimed has nothing to release.",
			before: func(h *holdings) { h.add(r, one, false); h.remove(r) },
			do: func(h *holdings) bool {
				h.end(r)

				return true
			},
			want: want{OK: true},
		},
		"LeftAnother": {
			reason: "A deleted Workspace does not affect another one that was made in its place.",
			before: held,
			do: func(h *holdings) bool {
				h.left(r, two)

				return true
			},
			want: want{OK: true, Holds: true},
		},
		"LeaveNothing": {
			reason: "A Workspace that is not held does not leave.",
			do: func(h *holdings) bool {
				h.leave(r)
				h.left(r, one)
				h.doubt(r, nil)

				return true
			},
			want: want{OK: true},
		},
		"Doubt": {
			reason: "The unsure claim is recorded.",
			before: func(h *holdings) { h.add(r, one, false) },
			do: func(h *holdings) bool {
				h.doubt(r, theObject())
				h.end(r)

				return true
			},
			want: want{OK: true, Leavable: true, Unsure: true, Due: 1},
		},
		"Settled": {
			reason: "A settled claim does not affect the next claim.",
			before: func(h *holdings) {
				h.add(r, one, false)
				h.doubt(r, theObject())
				h.remove(r)
			},
			do: func(h *holdings) bool {
				h.add(r, one, false)
				h.leave(r)
				h.end(r)

				return true
			},
			want: want{OK: true, Leavable: true, Due: 1},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := want{}
			h := newHoldings(func(ref) { got.Due++ })

			if tc.before != nil {
				tc.before(h)
			}

			got.OK = tc.do(h)
			got.Holds = h.holds(r, one)

			_, unsure, ok := h.leavable(r)
			got.Leavable, got.Unsure = ok, unsure != nil

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
