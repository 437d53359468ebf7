// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
)

// The model is a small world: an API server with the Lease of one session, its process, and an observer
// who waits for its end. Requests take time, and time passes in ticks. The renewals of the process and the
// observation of the observer are the real code. A process that is stopped, slow or cut off needs no
// fault: any process may do nothing while time passes.
//
// A state is the complete state of that world at one moment. It is a value that can be a key of a map: two
// ways to it lead to the same state.
type state struct {
	lease    lease
	copy     lease // that a person has made, if copied
	copied   bool
	process  process
	observer observer
	left     faults
}

// Durations in ticks. The fence kills one tick before others may end the session.
const (
	short = 2
	long  = 4

	// first is the count of renewals at the start. Only differences of counts matter.
	first = 4
)

// A lease is the Lease of the session.
type lease struct {
	exists, ended, emptied bool

	// changed says that it has changed since the last renewal.
	changed bool

	uid, version, count, seconds uint8
}

// A renewal is a request on its way to the API server.
type renewal struct {
	sent                        bool
	uid, base, seconds, age, no uint8

	// arrived says that it has got to the API server, and accepted that it took effect there.
	arrived, accepted bool
}

type process struct {
	alive, runs, over bool

	// child says that a child of a process that was killed has not ended yet.
	child bool

	// fence is when the kernel kills it if it has a run.
	fence uint8

	// The contents of the real renewals.
	uid, version, count     uint8
	age, seconds            uint8
	attempted               bool
	firstAge, firstShortest uint8

	renewal, late renewal
}

type observer struct {
	ended, read, missing    bool
	uid, version, age       uint8
	count                   int8
	duration, longestOfSeen uint8

	// ending says that the end is on its way, on the version, or for no Lease.
	ending     bool
	endsNone   bool
	endVersion uint8
	endUID     uint8
}

// faults are the numbers of faults of each kind that may still happen.
type faults struct{ kills, losses, repeats, deletes, empties, edits, shortens, copies uint8 }

func (f *faults) each() []*uint8 {
	return []*uint8{&f.kills, &f.losses, &f.repeats, &f.deletes, &f.empties, &f.edits, &f.shortens, &f.copies}
}

// A move leads from one state to the next.
type move string

const (
	ticks         move = "time passes"
	begins        move = "the process begins a run"
	ends          move = "the run of the process ends"
	sends         move = "the process sends a renewal"
	arrives       move = "the renewal arrives"
	renews        move = "the process has renewed"
	conflicts     move = "the renewal conflicts, and the process reads its Lease"
	lateArrives   move = "a renewal arrives that the process does not wait for any more"
	endsOwn       move = "the process ends its session"
	childEnds     move = "the child ends"
	proves        move = "the next process of the pod has the lock, and ends the session"
	reads         move = "the observer reads the Lease"
	sendsEnd      move = "the observer sends the end of the session"
	endRefused    move = "the end of the session is refused, because its Lease is gone"
	endArrives    move = "the end of the session arrives"
	kills         move = "the process is killed"
	losesAnswer   move = "the process is renewed, and does not get the answer"
	losesRequest  move = "the process gives up a renewal, which may arrive later"
	repeatsAnswer move = "the process is renewed, and the request is repeated"
	deletes       move = "a person deletes the Lease"
	empties       move = "a person empties the Lease"
	edits         move = "a person edits the Lease"
	shortens      move = "a person shortens the duration in the Lease"
	copies        move = "a person copies the Lease"
	putsBack      move = "a person puts the copy back"
)

// Describe a move in one line.
func (m *model) Describe(e move, _, after *state) string {
	return fmt.Sprintf("%s: Lease %+v, process %+v, observer %+v", e, after.lease, after.process, after.observer)
}

// Fault says that later moves do not depend on a move.
func (m *model) Fault(e move) bool {
	switch e {
	case kills, losesAnswer, losesRequest, repeatsAnswer, deletes, empties, edits, shortens, copies, putsBack:
		return true
	default:
		return false
	}
}

// Wrong says that a session counts as dead, and its process has a run.
func (m *model) Wrong(s *state) string {
	if p := s.process; (s.lease.exists && s.lease.ended || s.observer.ended) && (p.alive && p.runs || p.child) {
		return deadWorks
	}

	return ""
}

// Goals: the end of a session without a process is seen, and a process may run or learns that its session is
// over.
func (m *model) Goals() int { return 2 }

// Due says whether a goal is.
func (m *model) Due(s *state, goal int) bool {
	if goal == 0 {
		return !s.process.alive && !s.process.child
	}

	return s.process.alive
}

// Reached says whether a goal is.
func (m *model) Reached(s *state, goal int) bool {
	if goal == 0 {
		return s.observer.ended
	}

	return s.process.runs || s.process.over
}
