// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// TestLive claims and releases on a real API server.
func TestLive(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml")

	for i, kind := range workspace.Kinds() {
		for name, test := range map[string]func(t *testing.T, f *fixture){
			"TakeAndRelease":      testTakeAndRelease,
			"Outdated":            testOutdated,
			"MadeAgain":           testMadeAgain,
			"AnswerLost":          testAnswerLost,
			"NotKept":             testNotKept,
			"Refused":             testRefused,
			"Failed":              testFailed,
			"Repeated":            testRepeated,
			"ClaimArrivesLate":    testClaimArrivesLate,
			"ErasureArrivesLate":  testErasureArrivesLate,
			"ChangedDuringErase":  testChangedDuringErase,
			"LeavesDuringWork":    testLeavesDuringWork,
			"WaitsForOwner":       testWaitsForOwner,
			"WaitsForEver":        testWaitsForEver,
			"TakesCopy":           testTakesCopy,
			"TakesFromDead":       testTakesFromDead,
			"HangingRelease":      testHangingRelease,
			"LeavesLock":          testLeavesLock,
			"NothingToDo":         testNothingToDo,
			"ClaimedByAnotherNow": testClaimedByAnotherNow,
			"PreviousOwner":       testPreviousOwner,
			"Erased":              testErased,
		} {
			// The kinds differ only in their types.
			if i > 0 && name != "TakeAndRelease" {
				continue
			}

			t.Run(kind.GroupKind()+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, newFixture(t, cfg, kind))
			})
		}
	}
}

func testTakeAndRelease(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.expectReconciled(t)
	f.expectClaim(t, "A Workspace without a claim is taken.", f.me())
	f.expectRuns(t, "It is claimed, and other instances can see that.", 1)

	f.refresh(t)
	f.expectReconciled(t)
	f.expectRuns(t, "It is held.", 2)

	f.change(t, func(o client.Object) { o.SetLabels(map[string]string{shard.LabelKey: "b"}) })
	f.leave()
	f.eventuallyClaimed(t, "A Workspace that has left is released.", Claim{})

	// The cache has not changed.
	f.expectReconciled(t)
	f.expectRuns(t, "A cache that is behind shows a claim that was released.", 2)
	f.expectClaim(t, "This instance does not serve it any more.", Claim{})
}

// testNothingToDo has a settled Workspace, with the claim of a dead instance.
func testNothingToDo(t *testing.T, f *fixture) {
	t.Helper()

	f.inner.idle = true
	f.sessions.state = session.Dead
	f.claimFor(t, another("host-1_1f33"))

	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil || result.RequeueAfter != time.Minute {
		t.Errorf("want the delay of the next poll, got %s, %v", result.RequeueAfter, err)
	}

	f.expectClaim(t, "Nothing is written.", another("host-1_1f33"))
}
