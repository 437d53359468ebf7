// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"testing"
)

func TestUnsaved(t *testing.T) {
	t.Parallel()

	ledger := []entry{did(10, creating, "x", 5), did(20, created, "x", 5)}
	want := []violation{{workspace: "ws-1", time: at(10), instances: []string{"a#1"}}}

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		runs     []run
		killed   map[string]int64
		notes    []note
		want     []violation
	}{
		"Saved": {
			reason:   "It is in the state.",
			ledger:   ledger,
			versions: []version{holding("x"), holding()},
			runs:     []run{newRun("a#1", 5, 1, 5000)},
		},
		"SavedTainted": {
			reason:   "It is in the state, where it is tainted.",
			ledger:   ledger,
			versions: []version{tainting("x")},
			runs:     []run{newRun("a#1", 5, 1, 5000)},
		},
		"NotSaved": {
			reason:   "A run that ends by itself has to save what it did.",
			ledger:   ledger,
			versions: []version{holding()},
			runs:     []run{newRun("a#1", 5, 1, 5000)},
			want:     want,
		},
		"Killed": {
			reason: "A run that ends with its instance may have had no time to.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 5000)},
			killed: map[string]int64{"a#1": at(5001)},
		},
		"KilledLater": {
			reason: "A run that ended well before its instance had the time.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			killed: map[string]int64{"a#1": at(5001)},
			want:   want,
		},
		"KilledWithoutServer": {
			reason: "There was nowhere to save it before the instance was killed.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			killed: map[string]int64{"a#1": at(9000)},
			notes:  []note{{time: at(3000), kind: restart}, {time: at(8000), text: back}},
		},
		"KilledLongAfterServer": {
			reason: "There was time to save it once the API server was back.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			killed: map[string]int64{"a#1": at(19000)},
			notes:  []note{{time: at(3000), kind: restart}, {time: at(8000), text: back}},
			want:   want,
		},
		"AnotherOutage": {
			reason: "The API server was there when the run ended.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			killed: map[string]int64{"a#1": at(9000)},
			notes:  []note{{time: at(5000), kind: restart}, {time: at(8000), text: back}},
			want:   want,
		},
		"NotKilledWithoutServer": {
			reason: "An instance that lives on has to save it.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(3000), kind: restart}, {time: at(8000), text: back}},
			want:   want,
		},
		"AnotherKilled": {
			reason: "What happens to the next process of the instance is no excuse.",
			ledger: ledger,
			runs:   []run{newRun("a#1", 5, 1, 5000)},
			killed: map[string]int64{"a#2": at(5000)},
			want:   want,
		},
		"KilledAtOnce": {
			reason: "The provisioner of a run that was killed may have no parent.",
			ledger: []entry{did(10, creating, "x", 1), did(20, created, "x", 1)},
			runs:   []run{newRun("b#1", 4, 1, 2), newRun("a#1", 5, 3, 9), newRun("b#1", 6, 11, 12)},
			killed: map[string]int64{"a#1": at(9)},
		},
		"ParentlessNotKilled": {
			reason: "But only of one that was killed, and that can create.",
			ledger: []entry{did(10, creating, "x", 1), did(20, created, "x", 1)},
			runs:   []run{newRun("a#1", 5, 3, 9), {workspace: "ws-1", uid: "uid-1", pid: 6, instance: "b#1", command: "plan", start: at(4), end: at(9)}},
			killed: map[string]int64{"b#1": at(9)},
			want:   want,
		},
		"UnknownRun": {
			reason: "Somebody who is not known has created it.",
			ledger: ledger,
			want:   []violation{{workspace: "ws-1", time: at(10)}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, unsaved(resources(tc.ledger, tc.versions), tc.runs, tc.killed, tc.killed, outages(tc.notes), 0))
		})
	}
}

func TestLost(t *testing.T) {
	t.Parallel()

	ledger := []entry{did(10, creating, "x", 5), did(20, created, "x", 5)}
	destroyed := slices.Concat(ledger, []entry{did(30, destroying, "x", 5)})
	deleted := version{workspace: "ws-1", time: at(25), deleted: true}
	forgotten := []violation{{workspace: "ws-1", time: at(25)}}

	renewed := holding("x")
	renewed.lineage = "other"

	elsewhere := holding()
	elsewhere.workspace = "ws-2"

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		want     []violation
	}{
		"Kept": {
			reason:   "A state that keeps what it has is fine, whatever others have.",
			ledger:   ledger,
			versions: []version{{workspace: "ws-1"}, holding(), holding("x"), elsewhere, holding("x")},
		},
		"Destroyed": {
			reason:   "What was destroyed goes from the state, and the state itself in the end.",
			ledger:   destroyed,
			versions: []version{holding("x"), holding(), deleted},
		},
		"Forgotten": {
			reason:   "What was not destroyed must not go.",
			ledger:   ledger,
			versions: []version{holding("x"), holding()},
			want:     forgotten,
		},
		"Emptied": {
			reason:   "An empty Secret has neither the resource nor the lineage.",
			ledger:   ledger,
			versions: []version{holding("x"), {workspace: "ws-1", time: at(25)}},
			want:     []violation{forgotten[0], forgotten[0]},
		},
		"Deleted": {
			reason:   "Nor must the state go while it has something.",
			ledger:   ledger,
			versions: []version{holding("x"), deleted},
			want:     forgotten,
		},
		"Tainted": {
			reason:   "What is tainted is replaced, and its destruction is not announced.",
			ledger:   ledger,
			versions: []version{tainting("x"), holding()},
		},
		"OtherLineage": {
			reason:   "A state must not become another one.",
			ledger:   ledger,
			versions: []version{holding("x"), renewed},
			want:     []violation{{workspace: "ws-1", time: at(25)}},
		},
		"Recreated": {
			reason:   "After it was deleted it is another one.",
			ledger:   destroyed,
			versions: []version{holding(), deleted, renewed},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, lost(resources(tc.ledger, nil), tc.versions))
		})
	}
}
