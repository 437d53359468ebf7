// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

func (f *fixture) expectReconciled(t *testing.T) {
	t.Helper()

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) expectClaim(t *testing.T, reason string, want Claim) {
	t.Helper()

	if diff := cmp.Diff(want, f.claimOf(t, f.ws)); diff != "" {
		t.Errorf("%s\nclaim: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectHolds(t *testing.T, reason string, want bool) {
	t.Helper()

	if diff := cmp.Diff(want, f.claims.held.holds(f.ref(), f.ws.GetUID())); diff != "" {
		t.Errorf("%s\nholds: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectRuns(t *testing.T, reason string, want int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	if diff := cmp.Diff(want, f.runs); diff != "" {
		t.Errorf("%s\nreconciles that were passed on: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectEvents(t *testing.T, reason string, want int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	if diff := cmp.Diff(want, f.events); diff != "" {
		t.Errorf("%s\nevents: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectWarnings(t *testing.T, reason string, want int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	if diff := cmp.Diff(want, f.warnings); diff != "" {
		t.Errorf("%s\nwarnings: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) eventuallyClaimed(t *testing.T, reason string, want Claim) {
	t.Helper()

	f.eventually(t, reason, func() bool { return f.claimOf(t, f.ws) == want && !f.knows() })
}

func (f *fixture) eventuallyForgotten(t *testing.T) {
	t.Helper()

	f.eventually(t, "the Workspace is not held any more", func() bool { return !f.knows() })
}

// eventuallyTakes waits until the Workspace is taken again, after the release has ended.
func (f *fixture) eventuallyTakes(t *testing.T) {
	t.Helper()

	f.eventually(t, "the Workspace is taken again", func() bool {
		return f.reconcile(t) == nil && f.claimOf(t, f.ws) == f.me()
	})
}

func (f *fixture) eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()

	if err := wait.UntilTrue(t.Context(), what, condition); err != nil {
		t.Error(err)
	}
}
