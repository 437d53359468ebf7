// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

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
	endIsWritten
	startCounts
	firstStartCounts
	shorterIsFenced
	ownVersion
	lateConflictIsEnd
	emptyIsNoEnd
	ownDurationCounts
	missingIsLongest
	childrenHoldLock

	rules
)

const deadWorks = "a session counts as dead, and its process has a run"

// worlds in which every rule holds.
func worlds() map[string]*model {
	return map[string]*model{
		"Killed":   {faults: faults{kills: 1, losses: 1}},
		"Slow":     {faults: faults{losses: 1, repeats: 1}},
		"Applies":  {applies: true, faults: faults{losses: 1, kills: 1}},
		"Edited":   {faults: faults{edits: 1, losses: 1}},
		"Emptied":  {faults: faults{empties: 1}},
		"Shorter":  {faults: faults{shortens: 1}},
		"Deleted":  {applies: true, faults: faults{deletes: 1}},
		"PutBack":  {faults: faults{copies: 1}},
		"Replaced": {faults: faults{copies: 1, deletes: 1}},
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

// TestModelWithoutRule removes one rule at a time, which leads to an error. So each rule is necessary, and the
// model detects its loss.
func TestModelWithoutRule(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		rule   rule
		model  model
		reason string
	}{
		"FenceKills":        {rule: fenceKills, reason: "A process that is stopped goes on where it was."},
		"EndIsWritten":      {rule: endIsWritten, reason: "A late renewal makes the session live again."},
		"StartCounts":       {rule: startCounts, reason: "Others may have seen the renewal long before its answer arrives."},
		"FirstStartCounts":  {rule: firstStartCounts, model: model{faults: faults{losses: 1}}, reason: "The request without an answer may be the one that took effect."},
		"ShorterIsFenced":   {rule: shorterIsFenced, model: model{applies: true, faults: faults{losses: 1}}, reason: "Others may see the shorter duration before its answer arrives."},
		"OwnVersion":        {rule: ownVersion, model: model{faults: faults{copies: 1, deletes: 1}}, reason: "A Lease that was put back is not the one that this process has renewed."},
		"LateConflictIsEnd": {rule: lateConflictIsEnd, model: model{faults: faults{copies: 1}}, reason: "A person puts back the Lease of a session that has ended."},
		"EmptyIsNoEnd":      {rule: emptyIsNoEnd, model: model{faults: faults{empties: 1}}, reason: "A person can empty the Lease of a process that runs."},
		"OwnDurationCounts": {rule: ownDurationCounts, model: model{faults: faults{shortens: 1}}, reason: "A person can write any duration."},
		"MissingIsLongest":  {rule: missingIsLongest, model: model{applies: true, faults: faults{deletes: 1}}, reason: "The Lease that is gone may have had the long duration."},
		"ChildrenHoldLock":  {rule: childrenHoldLock, model: model{faults: faults{kills: 1}}, reason: "A run goes on for a moment when its process was killed."},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tc.model.without = tc.rule
			explore.Expect(t, tc.reason, &tc.model, deadWorks)
		})
	}

	if diff := cmp.Diff(int(rules-noRule-1), len(cases)); diff != "" {
		t.Errorf("not every rule is taken away: -want, +got:\n%s", diff)
	}
}

// TestModelLimits shows the limits of the guarantees.
func TestModelLimits(t *testing.T) {
	t.Parallel()

	explore.Expect(t, "An older copy with the short duration is put back while the process applies and is cut off.",
		&model{applies: true, faults: faults{copies: 1}}, deadWorks)
}
