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
	deadNeedsExpiry
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
	unshardedIsCheckedAfter
	unshardedReadsLive
	unshardedRespectsClaims
	leaseIsReleasedLast
	otherHolderIsNoDeath
	claimIsForUID
	statusCarriesClaim

	rules
)

// These are the possible errors.
const (
	twoWorkers = "a Workspace has two workers"
	stuck      = explore.Stuck
)

// TestModelWithoutRule removes one rule at a time, which leads to an error. So each rule is
// necessary, and the model detects its loss.
func TestModelWithoutRule(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		rule   rule
		world  string
		faults faults
		want   string
	}{
		"ClaimIsNeeded": {
			reason: "Labels alone do not tell whether another instance has finished.",
			rule:   claimIsNeeded,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"ClaimNeedsVersion": {
			reason: "A claim that is based on an old version would overwrite that of another instance.",
			rule:   claimNeedsVersion,
			world:  "Lossy",
			faults: faults{relabels: 2},
			want:   twoWorkers,
		},
		"LiveClaimIsRespected": {
			reason: "A live instance that has claimed a Workspace may be working on it.",
			rule:   liveClaimIsRespected,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"UnknownIsAlive": {
			reason: "A Lease that cannot be read says nothing about its holder.",
			rule:   unknownIsAlive,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"DeadNeedsExpiry": {
			reason: "A Lease that is not old enough may still be renewed.",
			rule:   deadNeedsExpiry,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"FenceKills": {
			reason: "A stopped process continues where it was.",
			rule:   fenceKills,
			world:  "Unsharded",
			faults: faults{pauses: 1},
			want:   twoWorkers,
		},
		"ChildrenDie": {
			reason: "The Lease of a process says nothing about its children.",
			rule:   childrenDie,
			world:  "Unsharded",
			faults: faults{kills: 1},
			want:   twoWorkers,
		},
		"HoldingIsNeeded": {
			reason: "A cache that is behind shows a released claim.",
			rule:   holdingIsNeeded,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"BeginLooksAgain": {
			reason: "A Workspace may leave between the decision to work on it and the beginning.",
			rule:   beginLooksAgain,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"TakeIsWork": {
			reason: "A release that does not wait for a pending claim forgets the next claim.",
			rule:   takeIsWork,
			world:  "Lossy",
			faults: faults{relabels: 3},
			want:   stuck,
		},
		"TakeWaitsForRelease": {
			reason: "A release in progress would remove the new claim.",
			rule:   takeWaitsForRelease,
			world:  "Lossy",
			faults: faults{relabels: 3, losses: 1},
			want:   twoWorkers,
		},
		"RefusedIsKept": {
			reason: "A claim that a cache does not show yet cannot be written once more, and must not be dropped.",
			rule:   refusedIsKept,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   stuck,
		},
		"ReleaseWaitsForWork": {
			reason: "The next owner of the Workspace begins at once.",
			rule:   releaseWaitsForWork,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   twoWorkers,
		},
		"LeavingReleases": {
			reason: "A live instance would keep its claim on a Workspace that it does not serve any more.",
			rule:   leavingReleases,
			world:  "Lossy",
			faults: faults{relabels: 1},
			want:   stuck,
		},
		"EraseNeedsOwnClaim": {
			reason: "The claim may belong to another instance by then.",
			rule:   eraseNeedsOwnClaim,
			world:  "Lossy",
			faults: faults{relabels: 2, losses: 1},
			want:   twoWorkers,
		},
		"EraseNeedsVersion": {
			reason: "A delayed request removes a claim that was made since.",
			rule:   eraseNeedsVersion,
			world:  "Lossy",
			faults: faults{relabels: 3, losses: 1},
			want:   twoWorkers,
		},
		"DoubtIsReleased": {
			reason: "A claim without an answer may have been written, and no instance would release it.",
			rule:   doubtIsReleased,
			world:  "Lossy",
			faults: faults{relabels: 1, losses: 1},
			want:   stuck,
		},
		"DoubtIsSettled": {
			reason: "A claim without an answer may be written after its supposed release.",
			rule:   doubtIsSettled,
			world:  "Lossy",
			faults: faults{relabels: 1, losses: 1},
			want:   stuck,
		},
		"UnshardedIsCheckedAfter": {
			reason: "An unsharded instance that begins at the same moment sees no claim yet.",
			rule:   unshardedIsCheckedAfter,
			world:  "Unsharded",
			want:   twoWorkers,
		},
		"UnshardedReadsLive": {
			reason: "The cache of an unsharded instance does not have the latest claim, and the instance writes nothing that would fail.",
			rule:   unshardedReadsLive,
			world:  "Unsharded",
			want:   twoWorkers,
		},
		"UnshardedRespectsClaims": {
			reason: "An unsharded instance that is started next to shards finds them working.",
			rule:   unshardedRespectsClaims,
			world:  "Unsharded",
			want:   twoWorkers,
		},
		"LeaseIsReleasedLast": {
			reason: "All claims end with the Lease, and so must all work.",
			rule:   leaseIsReleasedLast,
			world:  "Replica",
			faults: faults{stops: 1},
			want:   twoWorkers,
		},
		"OtherHolderIsNoDeath": {
			reason: "An instance that has lost its Lease may still work.",
			rule:   otherHolderIsNoDeath,
			world:  "Usurped",
			faults: faults{usurpations: 1},
			want:   twoWorkers,
		},
		"ClaimIsForUID": {
			reason: "A copy has the claim of an instance that never released it.",
			rule:   claimIsForUID,
			world:  "Copied",
			faults: faults{copies: 1, relabels: 1},
			want:   stuck,
		},
		"StatusCarriesClaim": {
			reason: "A shard claims the Workspace while an unsharded instance writes its status.",
			rule:   statusCarriesClaim,
			world:  "UnshardedStatus",
			faults: faults{relabels: 1, writes: 1, losses: 1, kills: 1},
			want:   twoWorkers,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.without, m.faults = tc.rule, tc.faults
			explore.Expect(t, tc.reason, m, tc.want)
		})
	}

	if diff := cmp.Diff(int(rules-noRule-1), len(cases)); diff != "" {
		t.Errorf("not every rule is taken away: -want, +got:\n%s", diff)
	}
}
