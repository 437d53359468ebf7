// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// A rule can be removed from a model.
type rule uint8

const (
	noRule rule = iota
	fenceKills
	fenceCountsFromRequest
	fenceStaysArmed
	deadlineAborts
	drainingAborts
	deadlinesFit
	leaseIsReleasedLast
	vanishedWaits
	emptiedWaits
	unseenRenewalsCount
	otherHolderIsNoDeath
	deathNeedsRead
	strangersMayLive
	strangersMayLead
	otherHolderAborts
	shorterArmsFirst
	longestIsAssumed
	backupIsNoRenewal
	lockIsNeeded
	childrenHoldLock
	fileIsOfPod
	versionIsNeeded

	rules
)

// These are the possible errors.
const (
	twoWriters  = "two processes run the CLI for one Workspace"
	killedInRun = "a process that could have interrupted its run was killed in it"
)

// TestModelWithoutRule removes one rule at a time, which leads to an error. So each rule is
// necessary, and the model detects its loss.
func TestModelWithoutRule(t *testing.T) {
	t.Parallel()

	cases := map[rule]struct {
		name   string
		reason string
		world  string
		faults faults
		want   string
	}{
		fenceKills: {
			name:   "FenceKills",
			reason: "A stopped process continues where it was, and its run never stopped.",
			world:  "Outage",
			faults: faults{pauses: 1},
			want:   twoWriters,
		},
		fenceCountsFromRequest: {
			name:   "FenceCountsFromRequest",
			reason: "Others see a renewal before its answer arrives, and count from that time.",
			world:  "Outage",
			faults: faults{hangs: 1, pauses: 1},
			want:   twoWriters,
		},
		fenceStaysArmed: {
			name:   "FenceStaysArmed",
			reason: "A process can be stopped while it aborts.",
			world:  "Outage",
			faults: faults{pauses: 1},
			want:   twoWriters,
		},
		deadlineAborts: {
			name:   "DeadlineAborts",
			reason: "The fence leaves a run no time to save its state.",
			world:  "Outage",
			want:   killedInRun,
		},
		drainingAborts: {
			name:   "DrainingAborts",
			reason: "The API server may be unavailable while an instance waits for its last run.",
			world:  "Outage",
			faults: faults{stops: 1},
			want:   killedInRun,
		},
		deadlinesFit: {
			name:   "DeadlinesFit",
			reason: "The fence interrupts an abort that takes too long.",
			world:  "Outage",
			want:   killedInRun,
		},
		leaseIsReleasedLast: {
			name:   "LeaseIsReleasedLast",
			reason: "A run continues until it is interrupted: others must not take the Lease before.",
			world:  "Outage",
			want:   twoWriters,
		},
		vanishedWaits: {
			name:   "VanishedWaits",
			reason: "The holder of a deleted Lease continues.",
			world:  "Tampered",
			faults: faults{deletions: 1},
			want:   twoWriters,
		},
		emptiedWaits: {
			name:   "EmptiedWaits",
			reason: "The holder of an emptied Lease continues.",
			world:  "Tampered",
			faults: faults{emptyings: 1},
			want:   twoWriters,
		},
		unseenRenewalsCount: {
			name:   "UnseenRenewalsCount",
			reason: "The holder may have renewed the Lease right before its deletion, and after the last read.",
			world:  "Tampered",
			faults: faults{deletions: 1},
			want:   twoWriters,
		},
		otherHolderIsNoDeath: {
			name:   "OtherHolderIsNoDeath",
			reason: "A Lease from a backup names another holder, and the holder continues.",
			world:  "ShardRestored",
			faults: faults{restores: 1},
			want:   twoWriters,
		},
		deathNeedsRead: {
			name:   "DeathNeedsRead",
			reason: "An instance may have renewed its Lease since the last read.",
			world:  "ShardRestored",
			want:   twoWriters,
		},
		strangersMayLive: {
			name:   "StrangersMayLive",
			reason: "An instance can take a Lease, claim a Workspace and lose the Lease before others see it as the holder.",
			world:  "ShardDeleted",
			faults: faults{kills: 1, deletions: 1},
			want:   twoWriters,
		},
		strangersMayLead: {
			name:   "StrangersMayLead",
			reason: "A replica that has just started does not know that there was a Lease.",
			world:  "FreshDeleted",
			faults: faults{starts: 1, deletions: 1},
			want:   twoWriters,
		},
		otherHolderAborts: {
			name:   "OtherHolderAborts",
			reason: "If all else fails, two instances work until one notices.",
			world:  "FreshOverlap",
			faults: faults{starts: 1, deletions: 2, hangs: 1},
			want:   twoWriters,
		},
		shorterArmsFirst: {
			name:   "ShorterArmsFirst",
			reason: "Others see a shorter duration before its answer arrives.",
			world:  "Apply",
			faults: faults{applies: 1, hangs: 1},
			want:   twoWriters,
		},
		longestIsAssumed: {
			name:   "LongestIsAssumed",
			reason: "It is unknown which instances have seen the last duration of a deleted Lease.",
			world:  "ApplyDeleted",
			faults: faults{applies: 1, deletions: 1},
			want:   twoWriters,
		},
		backupIsNoRenewal: {
			name:   "BackupIsNoRenewal",
			reason: "A backup has the duration of another time.",
			world:  "ApplyRestored",
			faults: faults{applies: 1, restores: 1},
			want:   twoWriters,
		},
		lockIsNeeded: {
			name:   "LockIsNeeded",
			reason: "A process that was started in the same pod is no proof that the earlier one is dead.",
			world:  "Restarted",
			faults: faults{starts: 1},
			want:   twoWriters,
		},
		childrenHoldLock: {
			name:   "ChildrenHoldLock",
			reason: "Children die after their parent.",
			world:  "Restarted",
			faults: faults{starts: 1, kills: 1},
			want:   twoWriters,
		},
		fileIsOfPod: {
			name:   "RecordIsOfPod",
			reason: "Another pod can have the same name.",
			world:  "RestartedElsewhere",
			faults: faults{starts: 1},
			want:   twoWriters,
		},
		versionIsNeeded: {
			name:   "VersionIsNeeded",
			reason: "A backup names a dead holder, and another one continues.",
			world:  "RestartedRestored",
			faults: faults{starts: 1, kills: 1, restores: 1},
			want:   twoWriters,
		},
	}

	for r, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.without, m.faults = r, tc.faults
			explore.Expect(t, tc.reason, m, tc.want)
		})
	}

	if diff := cmp.Diff(int(rules-noRule-1), len(cases)); diff != "" {
		t.Errorf("not every rule is taken away: -want, +got:\n%s", diff)
	}
}
