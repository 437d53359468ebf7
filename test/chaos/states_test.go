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
	run5 := []run{newRun("a#1", 5, 1, 5000)}

	// dead is the note that a process was killed.
	dead := func(now int64, process string) note {
		return note{time: at(now), subject: unnumbered(process), killed: process}
	}
	interrupted := newRun("a#1", 5, 1, 5000)
	interrupted.interrupted = at(4000)

	onDisk := newRun("a#1", 5, 1, 5000)
	onDisk.state = "disk/uid-1"

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		runs     []run
		notes    []note
		want     []violation
	}{
		"Saved":        {reason: "It is in the state.", versions: []version{holding("x"), holding()}, runs: run5},
		"SavedTainted": {reason: "It is in the state, where it is tainted.", versions: []version{tainting("x")}, runs: run5},
		"NotSaved":     {reason: "A run that ends by itself has to save its resources.", versions: []version{holding()}, runs: run5, want: want},
		"OnDisk":       {reason: "The versions of a state on a disk are not observed.", runs: []run{onDisk}},
		"Interrupted":  {reason: "A sluggish run may be killed before it saves anything.", runs: []run{interrupted}},
		"Killed": {
			reason: "A run that is killed with its instance has no time to.",
			runs:   run5,
			notes:  []note{{time: at(4900), kind: kill, subject: "a"}, dead(5001, "a#1")},
		},
		"KilledLater": {
			reason: "A run that ended well before its instance had the time.",
			runs:   []run{newRun("a#1", 5, 1, 2900)},
			notes:  []note{{time: at(4900), kind: kill, subject: "a"}, dead(5001, "a#1")},
			want:   want,
		},
		"ReapedLate": {
			reason: "The machine was busy: the death of the instance was observed a second later.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(1500), end: at(5200), kind: pause, subject: "a"}, dead(5001, "a#1")},
		},
		"KilledReapedLate": {
			reason: "The time of the kill is known, however late the death was observed.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(3900), kind: kill, subject: "a", killed: "a#1"}, dead(9001, "a#1")},
		},
		"KilledItself": {
			reason: "An instance that kills itself has to interrupt its runs before.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(9000), kind: hang, spareCLI: true, subject: "a"}, dead(5001, "a#1")},
			want:   want,
		},
		"Lingered": {
			reason: "A creation that goes on after the interrupt may leave no time to save it.",
			ledger: []entry{did(10, creating, "x", 5), did(3800, created, "x", 5)},
			runs:   run5,
			notes:  []note{{time: at(5100), ended: "a#1"}},
		},
		"LingeredBefore": {
			reason: "It ended well before the interrupt.",
			ledger: []entry{did(10, creating, "x", 5), did(2400, created, "x", 5)},
			runs:   run5,
			notes:  []note{{time: at(5100), ended: "a#1"}},
			want:   want,
		},
		"Paused": {
			reason: "An instance that is paused cannot interrupt anything.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(9000), kind: pause, subject: "a"}, dead(5001, "a#1")},
		},
		"PausedBefore": {
			reason: "After a pause it can.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(3000), kind: pause, subject: "a"}, dead(5001, "a#1")},
			want:   want,
		},
		"CutOff": {
			reason: "A run that cannot reach its backend can save nothing there.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(9000), kind: oneWay, subject: "a"}, dead(5001, "a#1")},
		},
		"AnotherCutOff": {
			reason: "The trouble of another instance is no excuse.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(9000), kind: oneWay, subject: "b"}, dead(5001, "a#1")},
			want:   want,
		},
		"SlowMachine": {
			reason: "A machine that is too busy for requests is too busy for interrupts.",
			runs:   run5,
			notes:  []note{{time: at(2000), end: at(2000), kind: slow}, dead(5001, "a#1")},
		},
		"ExpiredOnSlowMachine": {
			reason: "The instance could not renew its session before a request told that the machine is slow, and lives on.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(5000), end: at(5000), kind: slow}},
		},
		"EndedLongBeforeSlowMachine": {
			reason: "The machine had time for it.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(14000), end: at(14000), kind: slow}},
			want:   want,
		},
		"KilledWithoutServer": {
			reason: "There was nowhere to save it before the instance was killed.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(3000), end: at(8000), kind: restart}, dead(9000, "a#1")},
		},
		"InterruptedWithoutServer": {
			reason: "The CLI saves its state when it is interrupted, and again only after what it is busy with.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(1000), end: at(3200), kind: outage}, {time: at(5000), ended: "a#1"}},
		},
		"InterruptedWithServer": {
			reason: "It could save its state when it was interrupted.",
			runs:   []run{newRun("a#1", 5, 1, 6000)},
			notes:  []note{{time: at(1000), end: at(3200), kind: outage}, {time: at(6100), ended: "a#1"}},
			want:   want,
		},
		"KilledLongAfterServer": {
			reason: "There was time to save it once the API server was back.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(3000), end: at(8000), kind: restart}, dead(19000, "a#1")},
			want:   want,
		},
		"AnotherOutage": {
			reason: "The API server was there when the run ended.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(5000), end: at(8000), kind: restart}, dead(9000, "a#1")},
			want:   want,
		},
		"NotKilledWithoutServer": {
			reason: "An instance that lives on has to save it.",
			runs:   []run{newRun("a#1", 5, 1, 4000)},
			notes:  []note{{time: at(3000), end: at(8000), kind: restart}},
			want:   want,
		},
		"ExpiredWithoutServer": {
			reason: "An instance that cannot renew its session kills what waits for the backend, and lives on.",
			runs:   []run{newRun("a#1", 5, 1, 3600)},
			notes:  []note{{time: at(1000), end: at(8000), kind: oneWay, subject: "a"}},
		},
		"ExpiredEarly": {
			reason: "The run ended before it was killed: the instance has to save what it left on the disk.",
			runs:   []run{newRun("a#1", 5, 1, 3400)},
			notes:  []note{{time: at(1000), end: at(8000), kind: oneWay, subject: "a"}},
			want:   want,
		},
		"AnotherKilled": {
			reason: "A fault of the next process of the instance is no excuse.",
			runs:   run5,
			notes:  []note{{time: at(4900), kind: kill, subject: "a"}, dead(5000, "a#2")},
			want:   want,
		},
		"EndedTogether": {
			reason: "An instance that has to end gives its runs little time.",
			runs:   []run{newRun("a#1", 5, 1, 1400)},
			notes:  []note{{time: at(1900), ended: "a#1"}},
		},
		"EndedLater": {
			reason: "The run ended by itself.",
			runs:   []run{newRun("a#1", 5, 1, 900)},
			notes:  []note{{time: at(3500), ended: "a#1"}},
			want:   want,
		},
		"EndedLaterAfterSIGTERM": {
			reason: "It was killed because the instance had to end.",
			runs:   []run{newRun("a#1", 5, 1, 900)},
			notes:  []note{{time: at(500), kind: terminate, subject: "a"}, {time: at(3500), ended: "a#1"}},
		},
		"EndedLaterAfterOtherSIGTERM": {
			reason: "The process before it had to end.",
			runs:   []run{newRun("a#2", 5, 1, 900)},
			notes:  []note{{time: at(0), kind: terminate, subject: "a"}, {time: at(1), ended: "a#1"}, {time: at(3500), ended: "a#2"}},
			want:   []violation{{workspace: "ws-1", time: at(10), instances: []string{"a#2"}}},
		},
		"EndedLongAfterSIGTERM": {
			reason: "The run ended by itself.",
			runs:   []run{newRun("a#1", 5, 1, 900)},
			notes:  []note{{time: at(500), kind: terminate, subject: "a"}, {time: at(12000), ended: "a#1"}},
			want:   want,
		},
		"EndedLongAfterCreation": {
			reason: "There was time to save it before the instance ended.",
			runs:   []run{newRun("a#1", 5, 1, 2600)},
			notes:  []note{{time: at(2900), ended: "a#1"}},
			want:   want,
		},
		"UnknownRun": {
			reason: "The run that created it is not known.",
			want:   []violation{{time: at(10)}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if tc.ledger == nil {
				tc.ledger = ledger
			}

			expectViolations(t, tc.reason, tc.want, unsaved(resources(tc.ledger, tc.versions, tc.runs), tc.notes, 0))
		})
	}
}

func TestLost(t *testing.T) {
	t.Parallel()

	ledger := []entry{did(10, creating, "x", 5), did(20, created, "x", 5)}
	destroyed := slices.Concat(ledger, []entry{did(30, destroying, "x", 5)})
	runs := []run{newRun("a#1", 5, 1, 90)}
	deleted := version{state: "ws-1", time: at(25), deleted: true}
	forgotten := []violation{{workspace: "ws-1", time: at(25)}}

	renewed := holding("x")
	renewed.lineage = "other"

	elsewhere := holding()
	elsewhere.state = "ws-2"

	cases := map[string]struct {
		reason   string
		ledger   []entry
		versions []version
		want     []violation
	}{
		"Kept": {
			reason:   "A state that keeps its resources is fine. Other states do not count.",
			ledger:   ledger,
			versions: []version{{state: "ws-1"}, holding(), holding("x"), elsewhere, holding("x")},
		},
		"Destroyed": {
			reason:   "A destroyed resource disappears from the state, and the state itself at the end.",
			ledger:   destroyed,
			versions: []version{holding("x"), holding(), deleted},
		},
		"Forgotten": {
			reason:   "A resource that was not destroyed must not disappear.",
			ledger:   ledger,
			versions: []version{holding("x"), holding()},
			want:     forgotten,
		},
		"Emptied": {
			reason:   "An empty Secret has neither the resource nor the lineage.",
			ledger:   ledger,
			versions: []version{holding("x"), {state: "ws-1", time: at(25)}},
			want:     []violation{forgotten[0], forgotten[0]},
		},
		"Deleted": {
			reason:   "Nor must the state go while it has something.",
			ledger:   ledger,
			versions: []version{holding("x"), deleted},
			want:     forgotten,
		},
		"Tainted": {
			reason:   "A tainted resource is replaced, and its destruction is not announced.",
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
			expectViolations(t, tc.reason, tc.want, lost(resources(tc.ledger, nil, runs), tc.versions, runs))
		})
	}
}
