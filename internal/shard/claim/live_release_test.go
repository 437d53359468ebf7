// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// testMadeAgain deletes a Workspace, and makes one of the same name that has a claim of this
// instance.
func testMadeAgain(t *testing.T, f *fixture) {
	t.Helper()

	f.expectReconciled(t)
	f.leave()

	if err := f.live.Delete(t.Context(), f.ws); err != nil {
		t.Fatal(err)
	}

	f.ws.SetResourceVersion("")
	f.ws.SetUID("")

	if err := f.live.Create(t.Context(), f.ws); err != nil {
		t.Fatal(err)
	}

	f.claimFor(t, f.claims.me)
	f.expectReconciled(t)
	f.expectRuns(t, "The Workspace that was claimed is gone.", 1)

	f.start(t)
	f.eventuallyForgotten(t)
	f.expectClaim(t, "The released Workspace is deleted: this is another one.", f.me())
}

func testChangedDuringErase(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)
	f.expectReconciled(t)
	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.change(t, func(o client.Object) { o.SetLabels(map[string]string{shard.LabelKey: "b"}) })

		return next.RoundTrip(r)
	})
	f.leave()
	f.eventuallyClaimed(t, "It is released although something else changes.", Claim{})

	if diff := cmp.Diff(map[string]string{shard.LabelKey: "b"}, f.get(t).GetLabels()); diff != "" {
		t.Errorf("labels: -want, +got:\n%s", diff)
	}
}

// testLeavesDuringWork has one worker, which is also busy with another Workspace.
func testLeavesDuringWork(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)
	f.expectReconciled(t)
	f.refresh(t)

	began, finish := make(chan struct{}), make(chan struct{})
	f.work = func() {
		close(began)
		<-finish
	}

	ended := make(chan error, 1)

	go func() { ended <- f.reconcile(t) }()

	<-began

	// Another Workspace was claimed before, and leaves first.
	idle := f.create(t)

	f.take(t, idle)

	f.leave()
	f.claims.Left(idle)
	f.eventually(t, "the claim on a Workspace that is idle is released although the worker is busy", func() bool {
		return f.claimOf(t, idle) == (Claim{})
	})
	f.expectClaim(t, "The claim stays as long as the work takes.", f.me())

	close(finish)

	if err := <-ended; err != nil {
		t.Error(err)
	}

	f.eventuallyClaimed(t, "The work has ended.", Claim{})
}

// testHangingRelease has two Workspaces that leave. The release of the first one gets no answer.
func testHangingRelease(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)
	f.expectReconciled(t)

	second := f.create(t)

	f.take(t, second)

	hanging, answer := make(chan struct{}), make(chan struct{})

	f.once(http.MethodGet, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		close(hanging)
		<-answer

		return next.RoundTrip(r)
	})
	f.leave()
	<-hanging

	f.claims.Left(second)
	f.eventually(t, "the claim on another Workspace is released", func() bool { return f.claimOf(t, second) == (Claim{}) })
	f.expectClaim(t, "Its release has got no answer yet.", f.me())

	close(answer)
	f.eventuallyClaimed(t, "The release has got its answer.", Claim{})
}

func testLeavesLock(t *testing.T, f *fixture) {
	t.Helper()

	failed := &stubFailedRuns{}
	failed.left.Store(f.ws.GetUID(), true)
	f.claims.FailedRuns = failed
	f.start(t)
	f.expectReconciled(t)
	f.leave()
	f.eventuallyClaimed(t, "A Workspace that has left is released.", Claim{})

	if diff := cmp.Diff([]string{session.HostOf(f.claims.me.Holder)}, f.get(t).GetOwnership().PreviousHosts); diff != "" {
		t.Errorf("the next instance must know the possible holders of a lock: -want, +got:\n%s", diff)
	}

	f.eventually(t, "the lock is left to the next instance", func() bool { return !failed.Any(f.ws.GetUID()) })
}

// testClaimedByAnotherNow has another instance overwrite the claim, which is against the rules.
func testClaimedByAnotherNow(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)
	f.expectReconciled(t)
	f.claimFor(t, another("host-1_1f33"))
	f.leave()
	f.eventuallyForgotten(t)
	f.expectClaim(t, "It belongs to another instance.", another("host-1_1f33"))
}
