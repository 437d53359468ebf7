// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// A rule can be removed from a model.
type rule uint8

const (
	noRule rule = iota
	claimIsNeeded
	claimNeedsVersion
	liveClaimIsRespected
	unknownIsAlive
	deadNeedsEnd
	fenceKills
	childrenDie
	holdingIsNeeded
	beginLooksAgain
	takeIsWork
	takeWaitsForRelease
	refusedIsKept
	releaseWaitsForWork
	leavingReleases
	eraseNeedsOwnClaim
	eraseNeedsVersion
	doubtIsReleased
	doubtIsSettled
	conflictIsChecked
	sessionEndsLast
	gateWaits
	claimIsForUID

	rules
)

// These are the possible errors.
const (
	twoWorkers = "a Workspace has two workers"
	stuck      = explore.Stuck
)

// A scenario is a world that leads to an error: without a rule, or with faults beyond the guarantees.
type scenario struct {
	rule   rule
	world  string
	faults faults

	// liveBackups says that the claims of instances that are alive can be restored.
	liveBackups bool

	want   string
	reason string
}

func expectWrong(t *testing.T, cases map[string]scenario) {
	t.Helper()

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.without, m.faults, m.liveBackups = tc.rule, tc.faults, tc.liveBackups
			explore.Expect(t, tc.reason, m, tc.want)
		})
	}
}

// TestModel ensures that with every rule, no order of moves leads to an error.
func TestModel(t *testing.T) {
	t.Parallel()
	explore.ExpectSafe(t, worlds())
}

// TestModelWithMoreFaults adds one fault of each kind, one kind at a time.
func TestModelWithMoreFaults(t *testing.T) {
	t.Parallel()
	explore.ExpectSafeWithMoreFaults(t, worlds, func(m *model) []*uint8 { return m.faults.each() })
}

// TestModelWithoutRule removes one rule at a time, which leads to an error. So each rule is
// necessary, and the model detects its loss.
func TestModelWithoutRule(t *testing.T) {
	t.Parallel()

	cases := map[string]scenario{
		"ClaimIsNeeded": {
			rule: claimIsNeeded, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "Labels alone do not tell whether another instance has finished.",
		},
		"ClaimNeedsVersion": {
			rule: claimNeedsVersion, world: "Lossy", faults: faults{relabels: 2}, want: twoWorkers,
			reason: "A claim that is based on an old version would overwrite that of another instance.",
		},
		"LiveClaimIsRespected": {
			rule: liveClaimIsRespected, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "A live instance that has claimed a Workspace may be working on it.",
		},
		"UnknownIsAlive": {
			rule: unknownIsAlive, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "A Lease that cannot be read says nothing about its process.",
		},
		"DeadNeedsEnd": {
			rule: deadNeedsEnd, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "A session that is not old enough may still be renewed.",
		},
		"FenceKills": {
			rule: fenceKills, world: "Unsharded", faults: faults{pauses: 1}, want: twoWorkers,
			reason: "A stopped process continues where it was.",
		},
		"ChildrenDie": {
			rule: childrenDie, world: "Unsharded", faults: faults{kills: 1}, want: twoWorkers,
			reason: "The Lease of a process says nothing about its children.",
		},
		"HoldingIsNeeded": {
			rule: holdingIsNeeded, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "A cache that is behind shows a released claim.",
		},
		"BeginLooksAgain": {
			rule: beginLooksAgain, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "A Workspace may leave between the decision to work on it and the beginning.",
		},
		"TakeIsWork": {
			rule: takeIsWork, world: "Lossy", faults: faults{relabels: 3}, want: stuck,
			reason: "A release that does not wait for a pending claim forgets the next claim.",
		},
		"TakeWaitsForRelease": {
			rule: takeWaitsForRelease, world: "Lossy", faults: faults{relabels: 1, losses: 1}, want: twoWorkers,
			reason: "A release in progress would remove the new claim.",
		},
		"RefusedIsKept": {
			rule: refusedIsKept, world: "Lossy", faults: faults{relabels: 1, denials: 1}, want: stuck,
			reason: "A claim that a cache does not show yet is not dropped if it may not be written once more.",
		},
		"ReleaseWaitsForWork": {
			rule: releaseWaitsForWork, world: "Lossy", faults: faults{relabels: 1}, want: twoWorkers,
			reason: "The next owner of the Workspace begins at once.",
		},
		"LeavingReleases": {
			rule: leavingReleases, world: "Lossy", faults: faults{relabels: 1}, want: stuck,
			reason: "A live instance would keep its claim on a Workspace that it does not serve any more.",
		},
		"EraseNeedsOwnClaim": {
			rule: eraseNeedsOwnClaim, world: "Lossy", faults: faults{relabels: 2, losses: 1}, want: twoWorkers,
			reason: "The claim may belong to another instance by then.",
		},
		"EraseNeedsVersion": {
			rule: eraseNeedsVersion, world: "Lossy", faults: faults{relabels: 3, losses: 1}, want: twoWorkers,
			reason: "A delayed request removes a claim that was made since.",
		},
		"DoubtIsReleased": {
			rule: doubtIsReleased, world: "Lossy", faults: faults{relabels: 1, losses: 1}, want: stuck,
			reason: "A claim without an answer may have been written, and no instance would release it.",
		},
		"DoubtIsSettled": {
			rule: doubtIsSettled, world: "Lossy", faults: faults{relabels: 1, losses: 1}, want: stuck,
			reason: "A claim without an answer may be written after its supposed release.",
		},
		"ConflictIsChecked": {
			rule: conflictIsChecked, world: "Lossy", faults: faults{relabels: 1, repeats: 1}, want: stuck,
			reason: "A claim that conflicts with its own first attempt was written, and no instance would release it.",
		},
		"SessionEndsLast": {
			rule: sessionEndsLast, world: "Stop", faults: faults{stops: 1}, want: twoWorkers,
			reason: "All claims end with the session, and so must all work.",
		},
		"GateWaits": {
			rule: gateWaits, world: "Erased", faults: faults{erasures: 1}, want: twoWorkers,
			reason: "Without a claim, only the leader election tells a replica that another one works.",
		},
		"ClaimIsForUID": {
			rule: claimIsForUID, world: "Copied", faults: faults{copies: 1, relabels: 1}, want: stuck,
			reason: "A copy has the claim of an instance that never released it.",
		},
	}

	expectWrong(t, cases)

	if diff := cmp.Diff(int(rules-noRule-1), len(cases)); diff != "" {
		t.Errorf("not every rule is taken away: -want, +got:\n%s", diff)
	}
}

// TestModelLimits shows the limits of the guarantees: a person who writes the status of a
// Workspace can break them.
func TestModelLimits(t *testing.T) {
	t.Parallel()

	expectWrong(t, map[string]scenario{
		"ErasedAndRelabelled": {
			world: "Status", faults: faults{relabels: 1, erasures: 1}, want: twoWorkers,
			reason: "Only the claim tells another shard that a run is in progress.",
		},
		"RestoredAndRelabelled": {
			world: "Status", faults: faults{relabels: 1, restores: 1}, liveBackups: true, want: twoWorkers,
			reason: "An old claim of the other shard makes the Workspace look like its own.",
		},
		"Restored": {
			world: "Restored", faults: faults{restores: 1}, liveBackups: true, want: stuck,
			reason: "An instance does not see Workspaces that it does not serve, nor its claim on them. A warning tells people.",
		},
	})
}
