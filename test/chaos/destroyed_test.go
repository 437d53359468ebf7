// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"testing"
)

// byOther returns the entry as one of a run for another Workspace.
func byOther(e entry) entry {
	e.uid = "uid-2"

	return e
}

// forOther returns the run as one for another Workspace with the same state.
func forOther(r run) run {
	r.workspace, r.uid = "ws-2", "uid-2"

	return r
}

func newNames() map[string]string { return map[string]string{"uid-1": "ws-1", "uid-2": "ws-2"} }

func TestDestroyedUnderAnother(t *testing.T) {
	t.Parallel()

	runs := []run{newRun("a#1", 5, 1, 40), forOther(newRun("b#1", 6, 50, 90)), newRun("a#1", 7, 100, 190)}
	creation := []entry{did(10, creating, "x", 5), did(20, created, "x", 5)}
	want := []violation{{workspace: "ws-1", others: []string{"ws-2"}, time: at(60), instances: []string{"a#1", "b#1"}}}

	cases := map[string]struct {
		reason string
		ledger []entry
		gone   map[string]int64
		want   []violation
	}{
		"Kept":    {reason: "A resource without a destruction is fine.", ledger: creation},
		"ByOwner": {reason: "A Workspace may destroy its own resources.", ledger: slices.Concat(creation, []entry{did(110, destroying, "x", 7)})},
		"ByOther": {
			reason: "Another one may not, and it is one violation however often it does.",
			ledger: slices.Concat(creation, []entry{byOther(did(60, destroying, "x", 6)), byOther(did(70, destroying, "x", 6))}),
			want:   want,
		},
		"ByOtherFirst": {
			reason: "Nor if the owner wanted to destroy it later.",
			ledger: slices.Concat(creation, []entry{byOther(did(60, destroying, "x", 6)), did(110, destroying, "x", 7)}),
			gone:   map[string]int64{"uid-1": at(195)},
			want:   want,
		},
		"Adopted": {
			reason: "The resources left by a deleted Workspace may belong to another one.",
			ledger: slices.Concat(creation, []entry{byOther(did(60, destroying, "x", 6))}),
			gone:   map[string]int64{"uid-1": at(50)},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, destroyedUnderAnother(resources(tc.ledger, nil, runs), fate{names: newNames(), gone: tc.gone}, 0))
		})
	}
}

func TestDestroyedTwice(t *testing.T) {
	t.Parallel()

	ledger := []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(2000, destroying, "x", 6), did(5000, destroying, "x", 7)}
	first, second, third := newRun("a#1", 5, 1, 1000), newRun("a#1", 6, 1500, 3000), newRun("b#1", 7, 4500, 6000)
	want := []violation{{workspace: "ws-1", time: at(5000), instances: []string{"a#1", "b#1"}}}

	slow := second
	slow.end = at(5600)

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		runs     []run
		want     []violation
	}{
		"Once": {reason: "Everything is destroyed once.", ledger: ledger[:3], runs: []run{first, second, third}},
		"NotSaved": {
			reason:   "A destruction that got into no state is repeated.",
			ledger:   ledger,
			versions: []version{later(holding("x"), 30), later(holding(), 5500)},
			runs:     []run{first, second, third},
		},
		"Saved": {
			reason:   "A destruction that is in the state is not repeated.",
			ledger:   ledger,
			versions: []version{later(holding("x"), 30), later(holding(), 2500), later(holding("x"), 4600)},
			runs:     []run{first, second, third},
			want:     want,
		},
		"SeenLate": {
			reason:   "The observation of a version may be late.",
			ledger:   ledger,
			versions: []version{later(holding("x"), 30), later(holding(), 4700)},
			runs:     []run{first, second, third},
		},
		"AtTheSameTime": {
			reason: "Two must not destroy at the same time.",
			ledger: ledger,
			runs:   []run{first, slow, third},
			want:   want,
		},
		"SameRun": {
			reason: "A run that says it twice does it once.",
			ledger: []entry{did(10, creating, "x", 5), did(20, destroying, "x", 5), did(30, destroying, "x", 5)},
			runs:   []run{first},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, destroyedTwice(resources(tc.ledger, tc.versions, tc.runs), tc.versions, 0))
		})
	}
}

func TestLeftBehind(t *testing.T) {
	t.Parallel()

	runs := []run{newRun("a#1", 5, 1, 40)}
	creation := []entry{did(10, creating, "x", 5), did(20, created, "x", 5)}
	destroyed := slices.Concat(creation, []entry{did(30, destroying, "x", 5)})
	gone := fate{removed: map[string]int64{"uid-1": at(50)}, gone: map[string]int64{"uid-1": at(60)}}
	orphaned := gone
	orphaned.orphaned = map[string]bool{"uid-1": true}
	shared := gone
	shared.used = map[string]bool{"ws-1": true}
	left := []violation{{workspace: "ws-1", time: at(60), instances: []string{"a#1"}}}

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		fate     fate
		notes    []note
		want     []violation
	}{
		"There":     {reason: "The resources of a Workspace stay with it.", ledger: creation, versions: []version{holding("x")}},
		"Destroyed": {reason: "A destroyed resource is not a leftover.", ledger: destroyed, versions: []version{holding("x"), holding()}, fate: gone},
		"Left": {
			reason:   "A resource that is not destroyed is a leftover.",
			ledger:   creation,
			versions: []version{holding("x")},
			fate:     gone,
			want:     left,
		},
		"Inherited": {
			reason:   "Its instance ended before it could record whose the resource is. Another Workspace that had begun, too, has it now.",
			ledger:   creation,
			versions: []version{holding("x")},
			fate:     shared,
			notes:    []note{{time: at(21), ended: "a#1"}},
		},
		"Recorded": {
			reason:   "There was time to record whose it is.",
			ledger:   creation,
			versions: []version{holding("x")},
			fate:     shared,
			notes:    []note{{time: at(20) + int64(respite) + 1, ended: "a#1"}},
			want:     left,
		},
		"Unused": {
			reason:   "No other Workspace has the state.",
			ledger:   creation,
			versions: []version{holding("x")},
			fate:     gone,
			notes:    []note{{time: at(21), ended: "a#1"}},
			want:     left,
		},
		"Orphaned": {reason: "A person who removes the finalizers accepts leftovers.", ledger: creation, versions: []version{holding("x")}, fate: orphaned},
		"NeverSaved": {
			reason: "Another verdict reports resources that are in no state.",
			ledger: creation,
			fate:   gone,
		},
		"Tainted": {
			reason:   "The destruction of a tainted resource is not announced.",
			ledger:   creation,
			versions: []version{tainting("x"), later(holding(), 55)},
			fate:     gone,
		},
		"TaintedLeft": {
			reason:   "But the state has to forget it.",
			ledger:   creation,
			versions: []version{tainting("x")},
			fate:     gone,
			want:     left,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, leftBehind(resources(tc.ledger, tc.versions, runs), tc.versions, tc.fate, tc.notes, 0))
		})
	}
}

func TestCreatedAfterLoss(t *testing.T) {
	t.Parallel()

	runs := []run{newRun("a#1", 5, 1, 40), newRun("a#2", 6, 100, 190)}
	first, second := did(10, creating, "x", 5), did(110, creating, "y", 6)
	lost := map[string]int64{"uid-1": at(50)}

	cases := map[string]struct {
		reason string
		ledger []entry
		lost   map[string]int64
		want   []violation
	}{
		"NotLost": {reason: "An interrupted creation is repeated as long as there is a state.", ledger: []entry{first, second}},
		"Lost": {
			reason: "Without a state it is not known which resources exist.",
			ledger: []entry{first, second},
			lost:   lost,
			want:   []violation{{workspace: "ws-1", time: at(110), instances: []string{"a#2"}}},
		},
		"LostBefore":  {reason: "Before the first creation there is nothing to lose.", ledger: []entry{second}, lost: lost},
		"LostAfter":   {reason: "A loss later is no matter.", ledger: []entry{first, second}, lost: map[string]int64{"uid-1": at(200)}},
		"Destroyed":   {reason: "A resource that was destroyed before is not lost.", ledger: []entry{first, did(45, destroying, "x", 5), second}, lost: lost},
		"AnotherLost": {reason: "It is the disk of another one.", ledger: []entry{first, second}, lost: map[string]int64{"uid-2": at(50)}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, createdAfterLoss(resources(tc.ledger, nil, runs), fate{lost: tc.lost}, 0))
		})
	}
}
