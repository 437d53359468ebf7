// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
)

// did returns an entry of the ledger.
func did(now int64, what, id string, pid int) entry {
	return entry{time: at(now), what: what, id: id, pid: pid, uid: "uid-1"}
}

// holding returns a state that has the resources with the supplied ids, untainted.
func holding(ids ...string) version {
	v := version{state: "ws-1", time: at(25), lineage: "l", things: map[string]bool{}}
	for _, id := range ids {
		v.things[id] = false
	}

	return v
}

// tainting returns a state that has the resource with the supplied id, tainted.
func tainting(id string) version {
	return version{state: "ws-1", time: at(25), lineage: "l", things: map[string]bool{id: true}}
}

// later returns the version with a later observation time.
func later(v version, now int64) version {
	v.time = at(now)

	return v
}

func TestCreatedTwice(t *testing.T) {
	t.Parallel()

	other := did(50, creating, "other", 6)
	other.uid = "uid-2"

	twice := []violation{{workspace: "ws-1", time: at(50), instances: []string{"a#1", "b#1"}}}
	runs := []run{newRun("a#1", 5, 1, 40), newRun("b#1", 6, 45, 90)}

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		runs     []run
		want     []violation
	}{
		"Once": {
			reason:   "One creation is fine.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5)},
			versions: []version{holding("x")},
			runs:     runs,
		},
		"Replaced": {
			reason:   "A destroyed resource may be created again.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(49, destroying, "x", 6), did(50, creating, "y", 6)},
			versions: []version{holding("x"), holding("y")},
			runs:     runs,
		},
		"DestroyedAgain": {
			reason:   "A destruction that got into no state is repeated.",
			ledger:   []entry{did(10, creating, "x", 5), did(49, destroying, "x", 6), did(50, creating, "y", 6), did(70, destroying, "x", 7), did(71, creating, "z", 7)},
			versions: []version{holding("x"), holding("z")},
			runs:     []run{newRun("a#1", 5, 1, 40), newRun("b#1", 6, 45, 60), newRun("c#1", 7, 65, 90)},
		},
		"InState": {
			reason:   "A resource in the state must not be created again.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6)},
			versions: []version{holding("x"), holding("y")},
			runs:     runs,
			want:     twice,
		},
		"DestroyedTooLate": {
			reason:   "To destroy it afterwards does not help.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6), did(60, destroying, "x", 6)},
			versions: []version{holding("x"), holding("y")},
			runs:     runs,
			want:     twice,
		},
		"Tainted": {
			reason:   "A tainted resource is replaced, and its destruction is not announced.",
			ledger:   []entry{did(10, creating, "x", 5), did(50, creating, "y", 6)},
			versions: []version{holding("x"), tainting("x"), holding("y")},
			runs:     runs,
		},
		"SeenDuringRun": {
			reason:   "A run holds the lock of the state: the versions that it reads were stored before it.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6)},
			versions: []version{later(holding("x"), 89), holding("y")},
			runs:     runs,
			want:     twice,
		},
		"SavedAfterwards": {
			reason:   "A state that was on a disk for some time may be stored too late for other runs to know it.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6), did(95, destroying, "x", 7)},
			versions: []version{later(holding("x"), 91)},
			runs:     runs,
		},
		"LostBefore": {
			reason:   "A resource that the state has lost is not known any more, and reported as lost.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6)},
			versions: []version{holding("x"), later(holding(), 30)},
			runs:     runs,
		},
		"LostMeanwhile": {
			reason:   "A run that removes the resource from the state had to know of it.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6)},
			versions: []version{holding("x"), later(holding("y"), 60)},
			runs:     runs,
			want:     twice,
		},
		"CutShort": {
			reason:   "A run that was killed before it saved the state leaves no record of its resource.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(50, creating, "y", 6)},
			versions: []version{holding("y")},
			runs:     runs,
		},
		"AtTheSameTime": {
			reason: "Two processes must not create at the same time, even if the state has no resource.",
			ledger: []entry{did(10, creating, "x", 5), did(50, creating, "y", 6)},
			runs:   []run{newRun("a#1", 5, 1, 60), seeing(newRun("b#1", 6, 45, 90), 5)},
			want:   twice,
		},
		"OverlapBefore": {
			reason: "A run that has ended creates nothing, although it overlapped.",
			ledger: []entry{did(10, creating, "x", 5), did(50, creating, "y", 6)},
			runs:   []run{newRun("a#1", 5, 1, 49), seeing(newRun("b#1", 6, 45, 90), 5)},
		},
		"UnknownRuns": {
			reason: "It is not known whether runs without a record were concurrent.",
			ledger: []entry{did(10, creating, "x", 5), did(50, creating, "y", 6)},
		},
		"SeenTooLate": {
			reason: "A run is concurrent if it saw the other one. The observed end of the other one does not count.",
			ledger: []entry{did(10, creating, "x", 5), did(50, creating, "y", 6)},
			runs:   []run{newRun("a#1", 5, 1, 60), newRun("b#1", 6, 45, 90)},
		},
		"OtherState": {
			reason:   "Other states have resources of their own.",
			ledger:   []entry{did(10, creating, "x", 5), did(20, created, "x", 5), other},
			versions: []version{holding("x")},
			runs:     runs,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, createdTwice(resources(tc.ledger, tc.versions, tc.runs), tc.versions, 0))
		})
	}
}
