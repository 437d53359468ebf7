// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import "fmt"

// The model of Leases is a small world with a clock: an API server with one Lease and one
// Workspace, replicas that want the Lease, another instance that observes it, people who tamper
// with it, and requests that hang. It detects when two instances run the CLI for the Workspace.
// The real code decides which replica may take a Lease, and which instance is dead.
//
// The model of claims, in package claim, relies on a result of this one: an instance that counts
// as dead runs nothing.
//
// Time passes in ticks, which are the same for all. A tick may come between any two moves if
// nothing is due before it. So durations and partitions are explored, too: a renewal, an
// observation or an answer may be delayed by any time.
type state struct {
	lease  content
	backup content
	claim  name
	procs  [maxProcs]process
	left   faults

	// abrupt says that a run was killed although it could have been interrupted before.
	abrupt bool

	// overlap says that two runs were in progress when the last tick began.
	overlap bool
}

const maxProcs = 3

// Times, in ticks.
const (
	// shortDuration and longDuration are the durations of Leases. In some worlds, an instance with
	// a run in progress uses the long one.
	shortDuration = 3
	longDuration  = 5

	// reserve is the time between the renew deadline and the end of the duration. margin is the
	// time between the fence and the end. An abort takes less than a tick.
	reserve = 2
	margin  = 1

	// patience is the time that a replica without knowledge waits for a Lease to appear.
	patience = 1
)

// A name is an identity: none, a process, or an earlier instance.
type name uint8

const (
	noName   name = 0
	ancestor name = maxProcs + 1

	identities = maxProcs + 2
)

// A content is the content of the Lease.
type content struct {
	exists   bool
	holder   name
	names    names
	released name

	// long is its duration. rank orders the times of renewal of one holder.
	long bool
	rank uint8
}

// A role is the purpose of a process.
type role uint8

const (
	// replica wants the Lease.
	replica role = iota

	// other has its own Lease, and wants the Workspace when it is free.
	other
)

// A status of a process.
type status uint8

const (
	absent status = iota
	standby
	leading
	draining
	aborting
	gone
)

// A process is one incarnation of an instance.
type process struct {
	status status
	paused bool

	// runs says that it runs the CLI. A run can outlive its process for a moment. checked says that, since
	// it claimed the Workspace, it has made sure that there is no unsharded instance.
	runs, checked bool

	// age of the last renewal that it knows of, while it leads or ends. long says whether that
	// renewal had the long duration.
	age  uint8
	long bool

	// rank of its writes to the Lease.
	rank uint8

	// recorded says that its process file has the latest version of the Lease.
	recorded bool

	saw     known
	request request
}

// A request is a request without an answer so far.
type request struct {
	// sent says that there is a request.
	sent bool

	// age since it was sent. long is the duration that it asks for.
	age  uint8
	long bool

	// waiting says that the sender still waits.
	waiting bool

	// stale says that it is based on a version that is not the latest any more: the API server
	// refuses it.
	stale bool

	// accepted says that it has taken effect. latest says that nothing was written since.
	accepted, latest bool
}

// faults are the numbers of faults of each kind that may still happen.
type faults struct {
	starts, kills, pauses, stops, hangs, deletions, emptyings, restores, applies uint8
}

// each kind of fault of which there may be more. Deletions are not among them: a process that has
// seen that there was no Lease, and sees that again after a long time, does not know that there
// was one in between.
func (f *faults) each() []*uint8 {
	return []*uint8{&f.starts, &f.kills, &f.pauses, &f.stops, &f.hangs, &f.emptyings, &f.restores, &f.applies}
}

// A move leads from one state to the next.
type move struct {
	kind moveKind
	proc uint8
}

// A moveKind is the description of a move, without its actor.
type moveKind string

const (
	// Faults, and actions of people.
	starts   moveKind = "starts"
	killed   moveKind = "is killed"
	pauses   moveKind = "is stopped by SIGSTOP, its run goes on"
	stops    moveKind = "gets SIGTERM and drains"
	hangs    moveKind = "sends a write of the Lease that hangs"
	deletes  moveKind = "a person deletes the Lease"
	empties  moveKind = "a person empties holderIdentity"
	restores moveKind = "a person restores the Lease from the backup"

	// The rest continues.
	ticks       moveKind = "time goes on"
	continues   moveKind = "continues"
	isFenced    moveKind = "is killed by its fence"
	observes    moveKind = "reads the Lease"
	acquires    moveKind = "acquires the Lease"
	renews      moveKind = "renews the Lease"
	seesOther   moveKind = "reads that another one holds the Lease, and begins to abort its run"
	aborts      moveKind = "has reached its deadline, and begins to abort its run"
	releases    moveKind = "releases the Lease and exits"
	exits       moveKind = "exits"
	arrives     moveKind = "has its write arrive"
	isAnswered  moveKind = "gets the answer to its write"
	isRefused   moveKind = "gets the answer that its write is refused"
	givesUp     moveKind = "does not wait for its write any more"
	takes       moveKind = "claims the Workspace"
	checks      moveKind = "checks for an unsharded instance"
	givesBack   moveKind = "releases the Workspace"
	begins      moveKind = "begins a run"
	ends        moveKind = "ends its run"
	childrenDie moveKind = "has no children any more"
)

func (m *model) Describe(e move, _, after *state) string {
	l := after.lease
	at := "Lease of " + m.name(l.holder)

	if l.released != noName {
		at += ", released by " + m.name(l.released)
	}

	if !l.exists {
		at = "no Lease"
	}

	if !m.unsharded {
		at += ", Workspace of " + m.name(after.claim)
	}

	switch e.kind {
	case deletes, empties, restores, ticks:
		return fmt.Sprintf("%s: %s", e.kind, at)
	default:
		return fmt.Sprintf("%s %s: %s", m.name(name(e.proc+1)), e.kind, at)
	}
}

func (m *model) name(n name) string {
	switch {
	case n == noName:
		return "noName"
	case n == ancestor:
		return "an earlier instance"
	case m.procs[n-1].role == other:
		return "the other shard"
	default:
		return fmt.Sprintf("replica %d", n-1)
	}
}
