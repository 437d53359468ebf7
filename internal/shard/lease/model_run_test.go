// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// explored reports the fault that exploring a world has found.
func explored(t *testing.T, m *model) explore.Result {
	t.Helper()

	m.lease = heldLease()
	if !m.backup.exists {
		m.backup = oldLease()
	}

	got := explore.Run(m)
	t.Logf("%d states, %d ways between them without a fault", got.States, got.Edges)

	return got
}

// With every rule, nothing goes wrong, for all moves in all orders.
func TestModel(t *testing.T) {
	t.Parallel()

	for name, m := range worlds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := explored(t, &m)
			if diff := cmp.Diff("", got.Wrong); diff != "" {
				t.Errorf("-want, +got:\n%s\nfor example:\n%s", diff, got.Trace)
			}
		})
	}
}

// The same with one more fault of each kind that there is, one kind at a time.
func TestModelWithMoreFaults(t *testing.T) {
	t.Parallel()

	if !explore.Full() {
		t.Skip("make model has the time for it")
	}

	for name, m := range worlds() {
		for i, kind := range m.faults.each() {
			if *kind == 0 {
				continue
			}

			more := m
			*more.faults.each()[i]++

			t.Run(fmt.Sprintf("%s/%+v", name, more.faults), func(t *testing.T) {
				if got := explored(t, &more); got.Wrong != "" {
					t.Errorf("%s, for example:\n%s", got.Wrong, got.Trace)
				}
			})
		}
	}
}
