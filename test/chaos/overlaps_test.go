// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

func TestReadRuns(t *testing.T) {
	t.Parallel()

	const one, two = "uid-1", "uid-2"

	start := func(now int64, uid string, pid int) record.Event {
		return record.Event{Kind: record.Start, Time: now, UID: uid, PID: pid}
	}
	end := func(now int64, uid string, pid int) record.Event {
		return record.Event{Kind: record.End, Time: now, UID: uid, PID: pid}
	}

	cases := map[string]struct {
		reason string
		events []record.Event
		want   []run
	}{
		"Complete": {
			reason: "A run has its start with all details, and its end.",
			events: []record.Event{
				{Kind: record.Start, Time: 1, UID: one, PID: 5, Parent: 4, Instance: "a#1", Command: "plan", Root: "/r", State: "s", Fresh: true, Beside: []int{3}},
				end(2, one, 5),
			},
			want: []run{{workspace: "ws-1", uid: one, pid: 5, instance: "a#1", command: "plan", root: "/r", state: "s", start: 1, end: 2, fresh: true, beside: []int{3}}},
		},
		"NeverEnded": {
			reason: "A run that was never seen to end has no end.",
			events: []record.Event{start(1, one, 5)},
			want:   []run{{workspace: "ws-1", uid: one, pid: 5, start: 1}},
		},
		"Others": {
			reason: "Runs for other Workspaces and in other processes end on their own.",
			events: []record.Event{start(1, one, 5), start(2, two, 6), start(3, one, 7), end(4, two, 6), end(5, one, 7)},
			want: []run{
				{workspace: "ws-1", uid: one, pid: 5, start: 1},
				{workspace: "ws-2", uid: two, pid: 6, start: 2, end: 4},
				{workspace: "ws-1", uid: one, pid: 7, start: 3, end: 5},
			},
		},
		"Interrupted": {
			reason: "A sluggish run has the time of its interrupt.",
			events: []record.Event{start(1, one, 5), {Kind: record.Interrupt, Time: 2, UID: one, PID: 5}, end(3, one, 5)},
			want:   []run{{workspace: "ws-1", uid: one, pid: 5, start: 1, interrupted: 2, end: 3}},
		},
		"UsedAgain": {
			reason: "A process id may be used again.",
			events: []record.Event{start(1, one, 5), end(2, one, 5), start(3, one, 5), end(4, one, 5)},
			want: []run{
				{workspace: "ws-1", uid: one, pid: 5, start: 1, end: 2},
				{workspace: "ws-1", uid: one, pid: 5, start: 3, end: 4},
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := readRuns(tc.events, map[string]string{one: "ws-1", two: "ws-2"})
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(run{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// at is a time so many milliseconds after the start of a test that began at 0.
func at(milliseconds int64) int64 { return milliseconds * int64(time.Millisecond) }

// newRun returns a run of apply.
func newRun(instance string, pid int, start, end int64) run {
	return run{workspace: "ws-1", uid: "uid-1", pid: pid, instance: instance, command: "apply", root: "/r", state: "ws-1", start: at(start), end: at(end)}
}

// seeing returns the run with marks of the processes with the supplied ids.
func seeing(r run, pids ...int) run {
	r.beside = pids

	return r
}

func TestOverlaps(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		runs   []run
		want   []violation
	}{
		"OneAfterTheOther": {
			reason: "The marks that a run sees decide. A late observation of the end of the first run does not count.",
			runs:   []run{newRun("a#1", 5, 1, 12), newRun("b#1", 6, 10, 20)},
		},
		"TwoInstances": {
			reason: "A run that sees another overlaps with it.",
			runs:   []run{newRun("a#1", 5, 1, 12), seeing(newRun("b#2", 6, 10, 0), 5)},
			want: []violation{{
				workspace: "ws-1",
				time:      at(10),
				instances: []string{"b#2", "a#1"},
				text: "apply      by a#1    (process 5, from +0.001s until +0.012s, in /r)\nhad not ended at the start of\n" +
					"apply      by b#2    (process 6, from +0.010s to the end of the test, in /r)",
			}},
		},
		"ThreeRuns": {
			reason: "Each pair counts.",
			runs:   []run{newRun("a#1", 5, 1, 30), seeing(newRun("b#1", 6, 2, 30), 5), seeing(newRun("c#1", 7, 3, 30), 5, 6)},
			want: []violation{
				{workspace: "ws-1", time: at(2), instances: []string{"b#1", "a#1"}},
				{workspace: "ws-1", time: at(3), instances: []string{"c#1", "a#1"}},
				{workspace: "ws-1", time: at(3), instances: []string{"c#1", "b#1"}},
			},
		},
		"WrittenLater": {
			reason: "The record of a run may be later than that of a run that saw it.",
			runs:   []run{seeing(newRun("b#1", 6, 10, 20), 5), newRun("a#1", 5, 11, 20)},
			want:   []violation{{workspace: "ws-1", time: at(10), instances: []string{"b#1", "a#1"}}},
		},
		"UsedAgain": {
			reason: "A later process with the same id is a different run.",
			runs:   []run{newRun("a#1", 5, 1, 20), seeing(newRun("b#1", 6, 10, 20), 5), newRun("c#1", 5, 5000, 6000)},
			want:   []violation{{workspace: "ws-1", time: at(10), instances: []string{"b#1", "a#1"}}},
		},
		"NeverWritten": {
			reason: "The record may be missing, if the run was killed in between.",
			runs:   []run{seeing(newRun("b#1", 6, 10, 20), 5)},
			want:   []violation{{workspace: "ws-1", time: at(10), instances: []string{"b#1"}}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, overlaps(tc.runs, 0))
		})
	}
}

// expectViolations compares violations. The text is compared where one is wanted.
// TestStateOverlaps shows that two runs change a state at the same time only if there is
// no lock.
func TestStateOverlaps(t *testing.T) {
	t.Parallel()

	// another returns the run as one for another Workspace.
	another := func(r run) run {
		r.workspace, r.uid = "ws-2", "uid-2"

		return r
	}
	by2 := func(e entry) entry {
		e.uid = "uid-2"

		return e
	}
	elsewhere := func(r run) run {
		r.state = "other"

		return r
	}

	first, second := newRun("a#1", 5, 1, 5000), another(newRun("b#1", 6, 10, 9000))
	ledger := []entry{did(1000, creating, "x", 5), did(2000, created, "x", 5), by2(did(3000, destroying, "x", 6)), by2(did(3100, creating, "y", 6))}
	want := []violation{{workspace: "ws-2", others: []string{"ws-1"}, time: at(3000), instances: []string{"a#1", "b#1"}}}

	cases := map[string]struct {
		reason string
		runs   []run
		ledger []entry
		want   []violation
	}{
		"Overlap": {
			reason: "The first had not ended when the second changed something.",
			runs:   []run{first, second},
			ledger: ledger,
			want:   want,
		},
		"NeverEnded": {
			reason: "A run without an observed end has not ended before.",
			runs:   []run{newRun("a#1", 5, 1, 0), second},
			ledger: ledger,
			want:   want,
		},
		"OneAfterTheOther": {
			reason: "The second waited for the lock.",
			runs:   []run{newRun("a#1", 5, 1, 2900), second},
			ledger: ledger,
		},
		"SeenLate": {
			reason: "The observation of an end may be late.",
			runs:   []run{newRun("a#1", 5, 1, 3400), second},
			ledger: ledger,
		},
		"ChangesNothing": {
			reason: "A run that waits for the lock, or is refused, may be there at any time.",
			runs:   []run{first, second},
			ledger: ledger[:2],
		},
		"OtherState": {
			reason: "Two states have two locks.",
			runs:   []run{first, elsewhere(second)},
			ledger: ledger,
		},
		"Unknown": {
			reason: "Of runs that were not written down nothing is known.",
			ledger: ledger,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, stateOverlaps(tc.runs, tc.ledger, 0))
		})
	}
}

// expectViolations compares violations. It ignores their texts if the wanted ones have
// none.
func expectViolations(t *testing.T, reason string, want, got []violation) {
	t.Helper()

	for i := range got {
		if got[i].text == "" {
			t.Errorf("%s\nviolation %d says nothing", reason, i)
		}

		if i < len(want) && want[i].text == "" {
			got[i].text = ""
		}
	}

	if diff := cmp.Diff(want, got, cmp.AllowUnexported(violation{})); diff != "" {
		t.Errorf("%s\n-want, +got:\n%s", reason, diff)
	}
}
