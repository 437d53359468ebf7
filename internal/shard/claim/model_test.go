// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// The model is a small world: an API server that holds a Workspace and the Leases of sessions, processes
// that see them late, and requests that take time. The decisions of a process, and its holdings, are the
// real code. One Workspace is enough: several share nothing but the session of their process. That a
// session is ended only when its process has no run is shown by the model of the package session.
//
// A state is the complete state of that world at one moment. It is a value that can be a key of a
// map: two ways to it lead to the same state.
type state struct {
	label label
	uid   uint8
	claim name
	procs [maxProcs]process
	left  faults
}

const (
	maxProcs = 3
	uids     = 2
)

// A name of a process, as in claims: 0 is none, and i+1 the process i.
type name uint8

// A label of a Workspace, as an index of labelNames.
type label uint8

const (
	unlabelled label = iota
	labelA
	labelB
)

// A role is the mode of a process.
type role uint8

const (
	shardA role = iota
	shardB
	catchAll
	unsharded

	roles
)

// faults are the numbers of faults of each kind that may still happen.
type faults struct {
	relabels, kills, pauses, stops, losses, repeats, denials, outages, writes, erasures, restores, copies uint8
}

// each kind of fault of which there may be more. There are only two UIDs, and so only one copy.
func (f *faults) each() []*uint8 {
	return []*uint8{&f.relabels, &f.kills, &f.pauses, &f.stops, &f.losses, &f.repeats, &f.denials, &f.outages, &f.writes, &f.erasures, &f.restores}
}

// A status of a process.
type status uint8

const (
	absent status = iota
	leading
	stopping
	aborting
	gone
)

// A process is one incarnation of an instance.
type process struct {
	status status
	paused bool
	work   work

	// ended says that, according to its Lease, the session of this process has ended.
	ended bool
}

// A view is a Workspace as read, or its absence.
type view struct {
	found bool
	uid   uint8
	label label
	claim name

	// latest says that nothing has changed since the read: a request on condition of the version
	// succeeds.
	latest bool
}

// A step of a reconcile.
type step uint8

const (
	idle step = iota
	decided
	writing
	// refused because the version has changed, and denied for another reason.
	refused
	denied
	written
	working
)

// A releaseStep is a step of the release of a claim.
type releaseStep uint8

const (
	notReleasing releaseStep = iota
	settling
	settled
	erasing
	erased
)

// A request that is on its way to the API server.
type request uint8

const (
	none request = iota
	// outdated: its condition on the version does not hold any more.
	outdated
	valid
)

// A work is the activity of one process on one Workspace.
type work struct {
	seen view
	step step
	// claiming is the claim that is being written.
	claiming request

	// uid of the Workspace that it works on or decides about.
	uid uint8

	// The contents of the real holdings, and whether a release is due.
	heldUID                      uint8
	held, claimed, busy, leaving bool
	unsure                       request
	due                          bool

	release   releaseStep
	releasing request

	// base says whether the Workspace is unchanged since it was read for this work, or since its
	// status was last written. carries is the claim that it had then. A status that is being
	// written is recording until there is an answer.
	base      request
	carries   name
	recording bool

	// Requests whose sender does not wait for them any more, and the claim of the last one.
	lateClaim, lateErase, lateStatus request
	lateCarries                      name
}

// outdate the requests on condition of a version that has just been replaced. Requests without a
// waiting process and without an effect are dropped.
func (w *work) outdate(forget bool) {
	w.seen.latest = false

	for _, r := range []*request{&w.claiming, &w.releasing, &w.unsure, &w.base, &w.lateClaim, &w.lateErase, &w.lateStatus} {
		if *r == valid {
			*r = outdated
		}
	}

	if forget {
		w.lateClaim, w.lateErase = none, none
	}

	if w.lateStatus == outdated {
		w.lateStatus, w.lateCarries = none, 0
	}
}

// holdings runs a function on the real holdings of a process.
func (w *work) holdings(fn func(h *holdings)) {
	h := newHoldings(func(ref) { w.due = true })
	if w.held {
		h.held[ref{}] = &holding{uid: uidOf(w.heldUID), claimed: w.claimed, busy: w.busy, leaving: w.leaving}
		if w.unsure != none {
			h.held[ref{}].unsure = theObject()
		}
	}

	fn(h)

	e, ok := h.held[ref{}]
	if !ok {
		w.held, w.claimed, w.busy, w.leaving, w.unsure, w.heldUID = false, false, false, false, none, 0

		return
	}

	w.held, w.claimed, w.busy, w.leaving = true, e.claimed, e.busy, e.leaving

	w.heldUID = 0
	if e.uid == uidOf(1) {
		w.heldUID = 1
	}

	if e.unsure == nil {
		w.unsure = none
	}
}

// uidOf returns the real UID.
func uidOf(i uint8) types.UID { return types.UID(rune('0' + i)) }

// A move leads from one state to the next.
type move struct {
	kind moveKind
	proc uint8
	arg  uint8
}

// A moveKind is the description of a move, without its actor.
type moveKind string

const (
	// Faults, and actions of people. They stop some day.
	starts          moveKind = "starts, and may work"
	relabels        moveKind = "is relabelled to"
	killed          moveKind = "is killed, and its children with it"
	pauses          moveKind = "is stopped by SIGSTOP; its children go on"
	terminated      moveKind = "gets SIGTERM"
	losesClaim      moveKind = "does not get an answer about its claim"
	losesRelease    moveKind = "does not get an answer about its release"
	losesStatus     moveKind = "does not get an answer about its status"
	claimRepeats    moveKind = "has its claim arrive, and once more, which is refused"
	eraseRepeats    moveKind = "has its erasure arrive, and once more, which is refused"
	statusRepeats   moveKind = "has its status arrive, and once more, which is refused"
	claimIsDenied   moveKind = "is not allowed to write its claim"
	outage          moveKind = "finds its Lease deleted and begins to abort its work"
	erases          moveKind = "has its claim erased by a person"
	restores        moveKind = "has its claim restored by a person to"
	copies          moveKind = "is replaced by a copy of it"
	records         moveKind = "writes its status"
	cannotReadLease moveKind = "cannot read Leases and decides to"

	// The rest continues.
	continues         moveKind = "continues"
	fenced            moveKind = "is killed by its fence"
	notices           moveKind = "reads that its session has ended and begins to abort its work"
	exits             moveKind = "has nothing in progress, ends its session and exits"
	endsOther         moveKind = "writes the end of the session of"
	catchesUp         moveKind = "has its cache catch up"
	decides           moveKind = "decides to"
	begins            moveKind = "begins work"
	ends              moveKind = "ends work"
	claimArrives      moveKind = "has its claim arrive at the API server"
	claimAnswered     moveKind = "gets the answer about its claim"
	findsClaim        moveKind = "finds that its refused claim is there"
	lateClaimArrives  moveKind = "has a claim arrive that it does not wait for any more"
	releases          moveKind = "begins to release"
	settleArrives     moveKind = "has its second try to claim arrive at the API server"
	readsToErase      moveKind = "reads what to erase"
	eraseArrives      moveKind = "has its erasure arrive at the API server"
	eraseAnswered     moveKind = "knows that its claim is gone"
	lateEraseArrives  moveKind = "has an erasure arrive that it does not wait for any more"
	statusIsWritten   moveKind = "has its status arrive"
	statusIsRepeated  moveKind = "has its status refused, and repeats it"
	statusIsNot       moveKind = "has its status refused, and gives up"
	lateStatusArrives moveKind = "has a status arrive that it does not wait for any more"
)

// Describe a move in one line.
func (m *model) Describe(e move, before, after *state) string {
	who := m.name(name(e.proc + 1))

	switch e.kind {
	case relabels:
		return fmt.Sprintf("the Workspace %s %s", e.kind, labelNames()[e.arg])
	case erases, copies:
		return fmt.Sprintf("the Workspace %s", e.kind)
	case restores:
		return fmt.Sprintf("the Workspace %s %s", e.kind, m.name(name(e.arg)))
	case starts, killed, pauses, terminated, continues, fenced, exits, outage, notices:
		return fmt.Sprintf("%s %s", who, e.kind)
	case endsOther:
		return fmt.Sprintf("%s %s %s", who, e.kind, m.name(name(e.arg+1)))
	case decides, cannotReadLease:
		was, is := before.procs[e.proc].work, after.procs[e.proc].work

		return fmt.Sprintf("%s %s %s the Workspace, as it sees label %s, claim of %s", who, e.kind, is.verb(), labelNames()[was.seen.label], m.name(was.seen.claim))
	default:
		return fmt.Sprintf("%s %s: the Workspace has label %s, claim of %s", who, e.kind, labelNames()[after.label], m.name(after.claim))
	}
}

// verb describes the latest decision.
func (w *work) verb() string {
	switch {
	case w.step == writing:
		return "take"
	case w.step == decided, w.step == working:
		return "run"
	case w.leaving:
		return "release"
	default:
		return "wait for"
	}
}

func (m *model) name(n name) string {
	if n == 0 {
		return "none"
	}

	return fmt.Sprintf("process %d (%s)", n-1, roleNames()[m.roles[n-1]])
}

func roleNames() [roles]string { return [...]string{"shard a", "shard b", "catch-all", "unsharded"} }

func labelNames() []string { return []string{"none", "a", "b"} }
