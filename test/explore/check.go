// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Expect explores a model. If want is empty, the test fails if a state is wrong. Otherwise
// the test fails unless the explored model has that fault.
func Expect[S comparable, M any](t *testing.T, reason string, m Model[S, M], want string) {
	t.Helper()

	expect(t, reason, Run(m), want)
}

func expect(t *testing.T, reason string, got Result, want string) {
	t.Helper()
	t.Logf("%d states, %d ways between them without a fault", got.States, got.Edges)

	if diff := cmp.Diff(want, got.Wrong); diff != "" {
		t.Errorf("%s\n-want, +got:\n%s", reason, diff)
	}

	if got.Wrong != "" {
		t.Logf("%s For example:\n%s", reason, got.Trace)
	}
}

// few states take about a twentieth of a second, with the race detector.
const few = 2_000

// ExpectSafe explores worlds in which nothing may go wrong. With -short, it explores only the
// first states of each: more than half of the rules, when broken, show in these.
func ExpectSafe[S comparable, M any, W Model[S, M]](t *testing.T, worlds map[string]W) {
	t.Helper()

	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const reason = "With every rule, no state is wrong."

			if testing.Short() {
				expect(t, reason, RunFirst[S, M](w, few), "")
			} else {
				Expect[S, M](t, reason, w, "")
			}
		})
	}
}

// ExpectSafeWithMoreFaults explores worlds in which nothing may go wrong, with one more
// fault of each kind that there is, one kind at a time. Worlds returns new ones at each
// call, and faults how many there are of each kind.
func ExpectSafeWithMoreFaults[S comparable, M any, W Model[S, M]](t *testing.T, worlds func() map[string]W, faults func(W) []*uint8) {
	t.Helper()

	if !Full() {
		t.Skip("make model has the time for it")
	}

	for name, w := range worlds() {
		for kind, n := range faults(w) {
			if *n == 0 {
				continue
			}

			t.Run(fmt.Sprintf("%s/%d", name, kind), func(t *testing.T) {
				more := worlds()[name]
				*faults(more)[kind]++

				Expect[S, M](t, "With every rule, no state is wrong.", more, "")
			})
		}
	}
}
