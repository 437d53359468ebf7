// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestHoldings calls methods of holdings, one after the other. The model explores all orders of
// them, for one UID.
func TestHoldings(t *testing.T) {
	t.Parallel()

	const uid, another types.UID = "one", "two"

	r := ref{}
	done := func(fn func(h *holdings)) func(h *holdings) bool {
		return func(h *holdings) bool {
			fn(h)

			return true
		}
	}
	methods := map[string]func(h *holdings) bool{
		"add":           func(h *holdings) bool { return h.add(r, uid, false) },
		"add another":   func(h *holdings) bool { return h.add(r, another, false) },
		"begin":         func(h *holdings) bool { return h.begin(r, uid) },
		"accept":        done(func(h *holdings) { h.accept(r) }),
		"refuse":        done(func(h *holdings) { h.refuse(r) }),
		"end":           done(func(h *holdings) { h.end(r) }),
		"leave":         func(h *holdings) bool { return h.leave(r, "") },
		"left":          func(h *holdings) bool { return h.leave(r, uid) },
		"another: left": func(h *holdings) bool { return h.leave(r, another) },
		"doubt":         done(func(h *holdings) { h.doubt(r, theObject()) }),
		"remove":        done(func(h *holdings) { h.remove(r) }),
	}

	// want is the visible state of holdings. OK is the answer of the last method.
	type want struct {
		OK, Holds, Leavable, Unsure bool
		// Due is how often a release was asked for.
		Due int
	}

	cases := map[string]struct {
		reason string
		calls  string
		want   want
	}{
		"Add":                 {reason: "It is held before other instances can know.", calls: "add", want: want{OK: true, Holds: true}},
		"LeaveWhileTaking":    {reason: "A claim that is not written yet cannot be released.", calls: "add, left", want: want{OK: true}},
		"Taken":               {reason: "It left while its claim was being written: it is released after that.", calls: "add, left, end", want: want{OK: true, Leavable: true, Due: 1}},
		"AddAgain":            {reason: "A claim is written again if a person has removed it.", calls: "add, end, add", want: want{OK: true, Holds: true}},
		"Refused":             {reason: "A Workspace that could not be claimed is not held.", calls: "add, refuse, end", want: want{OK: true}},
		"RefusedAgain":        {reason: "A Workspace that was claimed before still is.", calls: "add, accept, end, add, refuse, end", want: want{OK: true, Holds: true}},
		"LeftAndRefusedAgain": {reason: "It has left, and its claim must be released.", calls: "add, accept, end, add, left, refuse, end", want: want{OK: true, Leavable: true, Due: 1}},
		"AddWhileWorking":     {reason: "A Workspace that is being worked on stays recorded.", calls: "add, end, begin, add", want: want{Holds: true}},
		"AddWhileLeaving":     {reason: "The pending release would remove the new claim.", calls: "add, end, left, add", want: want{Leavable: true, Due: 1}},
		"Begin":               {reason: "Work on a held Workspace may begin.", calls: "add, end, begin", want: want{OK: true, Holds: true}},
		"BeginNotHeld":        {reason: "It is not held.", calls: "begin"},
		"BeginAnother":        {reason: "A Workspace of the same name is a different one.", calls: "add another, end, begin"},
		"BeginLeaving":        {reason: "It is about to be released.", calls: "add, end, left, begin", want: want{Leavable: true, Due: 1}},
		"LeaveWhileWorking":   {reason: "The work continues, and the claim stays until its end.", calls: "add, end, begin, leave", want: want{OK: true}},
		"End":                 {reason: "It left during the work.", calls: "add, end, begin, leave, end", want: want{OK: true, Leavable: true, Due: 1}},
		"EndOfNothing":        {reason: "There is nothing to release.", calls: "add, remove, end", want: want{OK: true}},
		"LeftAnother":         {reason: "A deleted Workspace does not affect the one in its place.", calls: "add, end, another: left", want: want{Holds: true}},
		"LeaveNothing":        {reason: "A Workspace that is not held does not leave.", calls: "leave, left, doubt", want: want{OK: true}},
		"Doubt":               {reason: "The unsure claim is recorded.", calls: "add, doubt, end", want: want{OK: true, Leavable: true, Unsure: true, Due: 1}},
		"Settled":             {reason: "A settled claim does not affect the next one.", calls: "add, doubt, remove, add, leave, end", want: want{OK: true, Leavable: true, Due: 1}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := want{}
			h := newHoldings(func(ref) { got.Due++ })

			for call := range strings.SplitSeq(tc.calls, ", ") {
				got.OK = methods[call](h)
			}

			got.Holds = h.holds(r, uid)

			_, unsure, ok := h.leavable(r)
			got.Leavable, got.Unsure = ok, unsure != nil

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s: -want, +got:\n%s", tc.reason, tc.calls, diff)
			}
		})
	}
}
