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

// A scenario is a world that leads to an error: without a rule, or with faults beyond the guarantees.
type scenario struct {
	rule   rule
	world  string
	faults faults

	// connected says that instances renew the Lease before each tick, and cut that they need not,
	// whatever the world says.
	connected, cut bool

	want   string
	reason string
}

func expectWrong(t *testing.T, cases map[string]scenario) {
	t.Helper()

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.without, m.faults, m.connected = tc.rule, tc.faults, (m.connected || tc.connected) && !tc.cut
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
		"FenceKills": {
			rule: fenceKills, world: "Outage", faults: faults{pauses: 1}, want: twoWriters,
			reason: "A stopped process continues where it was, and its run never stopped.",
		},
		"FenceCountsFromRequest": {
			rule: fenceCountsFromRequest, world: "Outage", faults: faults{hangs: 1, pauses: 1}, want: twoWriters,
			reason: "Others see a renewal before its answer arrives, and count from that time.",
		},
		"FenceStaysArmed": {
			rule: fenceStaysArmed, world: "Outage", faults: faults{pauses: 1}, want: twoWriters,
			reason: "A process can be stopped while it aborts.",
		},
		"DeadlineAborts": {
			rule: deadlineAborts, world: "Outage", want: killedInRun,
			reason: "The fence leaves a run no time to save its state.",
		},
		"DrainingAborts": {
			rule: drainingAborts, world: "Outage", faults: faults{stops: 1}, want: killedInRun,
			reason: "The API server may be unavailable while an instance waits for its last run.",
		},
		"DeadlinesFit": {
			rule: deadlinesFit, world: "Outage", want: killedInRun,
			reason: "The fence interrupts an abort that takes too long.",
		},
		"LeaseIsReleasedLast": {
			rule: leaseIsReleasedLast, world: "Outage", want: twoWriters,
			reason: "A run continues until it is interrupted: others must not take the Lease before.",
		},
		"VanishedWaits": {
			rule: vanishedWaits, world: "Tampered", faults: faults{deletions: 1}, want: twoWriters,
			reason: "The holder of a deleted Lease continues.",
		},
		"EmptiedWaits": {
			rule: emptiedWaits, world: "Tampered", faults: faults{emptyings: 1}, want: twoWriters,
			reason: "The holder of an emptied Lease continues.",
		},
		"UnseenRenewalsCount": {
			rule: unseenRenewalsCount, world: "Tampered", faults: faults{deletions: 1}, want: twoWriters,
			reason: "The holder may have renewed the Lease right before its deletion, and after the last read.",
		},
		"OtherHolderIsNoDeath": {
			rule: otherHolderIsNoDeath, world: "ShardRestored", faults: faults{restores: 1}, want: twoWriters,
			reason: "A Lease from a backup names another holder, and the holder continues.",
		},
		"DeathNeedsRead": {
			rule: deathNeedsRead, world: "ShardRestored", want: twoWriters,
			reason: "An instance may have renewed its Lease since the last read.",
		},
		"StrangersMayLive": {
			rule: strangersMayLive, world: "ShardDeleted", faults: faults{deletions: 1}, want: twoWriters,
			reason: "An instance can take a Lease, claim a Workspace and lose the Lease before others see it as the holder.",
		},
		"StrangersMayLead": {
			rule: strangersMayLead, world: "FreshDeleted", faults: faults{starts: 1, deletions: 1}, want: twoWriters,
			reason: "A replica that has just started does not know that there was a Lease.",
		},
		"OtherHolderAborts": {
			rule: otherHolderAborts, world: "FreshOverlap", faults: faults{starts: 1, deletions: 2}, want: twoWriters,
			reason: "If all else fails, two instances work until one notices.",
		},
		"ShorterArmsFirst": {
			rule: shorterArmsFirst, world: "Apply", faults: faults{applies: 1, hangs: 1}, want: twoWriters,
			reason: "Others see a shorter duration before its answer arrives.",
		},
		"LongestIsAssumed": {
			rule: longestIsAssumed, world: "ApplyDeleted", faults: faults{applies: 1, deletions: 1}, want: twoWriters,
			reason: "It is unknown which instances have seen the last duration of a deleted Lease.",
		},
		"BackupIsNoRenewal": {
			rule: backupIsNoRenewal, world: "ApplyRestored", faults: faults{applies: 1, restores: 1}, want: twoWriters,
			reason: "A backup has the duration of another time.",
		},
		"LockIsNeeded": {
			rule: lockIsNeeded, world: "Restarted", faults: faults{starts: 1}, want: twoWriters,
			reason: "A process that was started in the same pod is no proof that the earlier one is dead.",
		},
		"ChildrenHoldLock": {
			rule: childrenHoldLock, world: "Restarted", faults: faults{starts: 1, kills: 1}, want: twoWriters,
			reason: "Children die after their parent.",
		},
		"RecordIsOfPod": {
			rule: fileIsOfPod, world: "RestartedElsewhere", faults: faults{starts: 1}, want: twoWriters,
			reason: "Another pod can have the same name.",
		},
		"VersionIsNeeded": {
			rule: versionIsNeeded, world: "RestartedRestored", faults: faults{starts: 1, restores: 1}, want: twoWriters,
			reason: "A backup names a dead holder, and another one continues.",
		},
	}

	expectWrong(t, cases)

	if diff := cmp.Diff(int(rules-noRule-1), len(cases)); diff != "" {
		t.Errorf("not every rule is taken away: -want, +got:\n%s", diff)
	}
}

// TestModelLimits shows the limits of the guarantees if a person deletes a Lease. An unsharded
// instance claims nothing: while it cannot make its Lease again, an instance that has just
// started may take its place. Shards are protected from that, see the worlds FreshShardDeleted
// and ShardDeleted.
func TestModelLimits(t *testing.T) {
	t.Parallel()

	expectWrong(t, map[string]scenario{
		"FreshReplicaInAnOutage": {
			world: "FreshDeleted", cut: true, faults: faults{starts: 1, deletions: 1}, want: twoWriters,
			reason: "The holder cannot reach the API server while its Lease is deleted and a replica starts.",
		},
		"FreshReplicaWhilePaused": {
			world: "FreshDeleted", faults: faults{starts: 1, deletions: 1, pauses: 1}, want: twoWriters,
			reason: "The holder is stopped while its Lease is deleted and a replica starts.",
		},
		"FreshShard": {
			world: "UnshardedTampered", connected: true, faults: faults{starts: 1, deletions: 1}, want: twoWriters,
			reason: "A shard starts before the unsharded instance has made its Lease again.",
		},
		"LongerUnseen": {
			world: "ApplyUnsharded", faults: faults{applies: 1, deletions: 1}, want: twoWriters,
			reason: "A shard has not seen the longer duration of the Lease during an apply.",
		},
		"DeletedTwice": {
			world: "Tampered", faults: faults{deletions: 2}, want: twoWriters,
			reason: "A replica that is cut off between two deletions counts from the first one.",
		},
	})
}
