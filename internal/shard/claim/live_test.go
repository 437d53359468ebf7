// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

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
			"WaitsForDeletion":    testWaitsForDeletion,
			"TakesCopy":           testTakesCopy,
			"TakesFromDead":       testTakesFromDead,
			"TakesFromUnsharded":  testTakesFromUnsharded,
			"HangingRelease":      testHangingRelease,
			"LeavesLock":          testLeavesLock,
			"UnshardedWasFaster":  testUnshardedWasFaster,
			"ClaimedByAnotherNow": testClaimedByAnotherNow,
			"PreviousOwner":       testPreviousOwner,
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

	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil {
		t.Error("there was no work before the Workspace was claimed, and an error")
	}

	if result.RequeueAfter < 5*f.claims.RetryPeriod {
		t.Errorf("a creation that takes longer than %s would be followed by another reconcile, from a cache that is behind", result.RequeueAfter)
	}

	f.expectClaim(t, "A Workspace without a claim is taken.", f.me())
	f.expectRuns(t, "The claim has to be seen first.", 0)

	f.refresh(t)
	f.expectReconciled(t)
	f.expectRuns(t, "It is claimed, and other instances can see that.", 1)

	f.leave()
	f.eventuallyClaimed(t, "A Workspace that has left is released.", Claim{})

	// The cache has not changed.
	f.expectReconciled(t)
	f.expectRuns(t, "A cache that is behind shows a claim that was released.", 1)
}
