// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The model is a small world: an API server that holds Workspaces and Leases,
// processes that see them late, and requests that take their time. What a process
// decides, and what it remembers of the Workspaces it has taken, is the real code.
//
// A state is all there is to know about that world at one moment. It is a value
// that can be a key of a map: two ways to it are one state.
type state struct {
	label [maxSpaces]label
	claim [maxSpaces]name
	lease [roles]leaseState
	procs [maxProcs]process
	left  faults
}

const (
	maxProcs  = 3
	maxSpaces = 2
)

// A name of a process, as claims and Leases have it: 0 is nobody, and i+1 the
// process i.
type name uint8

// A label of a Workspace, as an index of labelNames.
type label uint8

const (
	unlabelled label = iota
	labelA
	labelB
)

// A role is what a process is started as, and the Lease it needs.
type role uint8

const (
	shardA role = iota
	shardB
	catchAll
	unsharded

	roles
)

// A leaseState is one Lease.
type leaseState struct {
	holder name

	// expired says, in one bit for each process, who has seen it unchanged for long
	// enough.
	expired uint8
}

// faults says how many of each may still happen.
type faults struct {
	relabels, kills, pauses, stops, losses uint8
}

// A status of a process.
type status uint8

const (
	absent status = iota
	standby
	leading
	stopping
	gone
)

// A process is one incarnation of an instance.
type process struct {
	status status
	paused bool
	work   [maxSpaces]work

	// read is who holds each Lease, as this process has read some time ago. It is
	// only used where that is wrong.
	read [roles]name
}

// A view is a Workspace as it was read, or its absence.
type view struct {
	found bool
	label label
	claim name

	// latest says that nothing has changed since, so that a request that is
	// conditioned on the version succeeds.
	latest bool
}

// A step of a reconcile.
type step uint8

const (
	idle step = iota
	looked
	decided
	writing
	refused
	written
	working
)

// A releaseStep is one of the release of a claim.
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

// A work is what one process does about one Workspace.
type work struct {
	seen view
	step step
	// claiming is the claim that is being written.
	claiming request

	// What the real holdings hold, and whether a release is due.
	held, claimed, busy, leaving bool
	unsure                       request
	due                          bool

	release   releaseStep
	releasing request

	// Requests whose sender does not wait for them any more.
	lateClaim, lateErase request
}

// outdate what was conditioned on a version that has just been replaced. Requests
// that nobody waits for and that have no effect any more are forgotten.
func (w *work) outdate(forget bool) {
	w.seen.latest = false

	for _, r := range []*request{&w.claiming, &w.releasing, &w.unsure, &w.lateClaim, &w.lateErase} {
		if *r == valid {
			*r = outdated
		}
	}

	if forget {
		w.lateClaim, w.lateErase = none, none
	}
}

// holdings runs a function on the real holdings of a process.
func (w *work) holdings(fn func(h *holdings)) {
	h := newHoldings(func(ref) { w.due = true })
	if w.held {
		h.held[ref{}] = &holding{uid: theUID, claimed: w.claimed, busy: w.busy, leaving: w.leaving}
	}

	if w.unsure != none {
		h.unsure[ref{}] = &metav1.PartialObjectMetadata{}
	}

	fn(h)

	e, ok := h.held[ref{}]
	if !ok {
		w.held, w.claimed, w.busy, w.leaving, w.unsure = false, false, false, false, none

		return
	}

	w.held, w.claimed, w.busy, w.leaving = true, e.claimed, e.busy, e.leaving
	if h.unsure[ref{}] == nil {
		w.unsure = none
	}
}

// theUID of every Workspace: none is made again.
const theUID types.UID = "uid"

// A move leads from one state to the next.
type move struct {
	kind  moveKind
	proc  uint8
	space uint8
	arg   uint8
}

type moveKind uint8

const (
	// Faults, and what people do. They stop some day.
	starts moveKind = iota
	relabels
	killed
	pauses
	terminated
	losesClaim
	losesRelease
	cannotReadLease

	// Everything else goes on.
	continues
	fenced
	exits
	acquires
	seesExpired
	readsLease
	catchesUp
	looks
	decides
	begins
	ends
	claimArrives
	claimAnswered
	lateClaimArrives
	releases
	settleArrives
	readsToErase
	eraseArrives
	eraseAnswered
	lateEraseArrives
)

// fault says that what is to come does not depend on it.
func (e move) fault() bool { return e.kind <= cannotReadLease }

// String says what happens, without who.
func (k moveKind) String() string {
	return [...]string{
		starts:           "starts and stands by",
		relabels:         "is relabelled to",
		killed:           "is killed, and its children with it",
		pauses:           "is stopped by SIGSTOP; its children go on",
		terminated:       "gets SIGTERM",
		losesClaim:       "does not get an answer about its claim",
		losesRelease:     "does not get an answer about its release",
		cannotReadLease:  "cannot read Leases and decides to",
		continues:        "continues",
		fenced:           "is killed by its fence",
		exits:            "has nothing in progress, releases its Lease and exits",
		acquires:         "acquires its Lease",
		seesExpired:      "sees as expired the Lease of",
		readsLease:       "reads, for later, the Lease of",
		catchesUp:        "has its cache catch up",
		looks:            "reads from the API server",
		decides:          "decides to",
		begins:           "begins work",
		ends:             "ends work",
		claimArrives:     "has its claim arrive at the API server",
		claimAnswered:    "gets the answer about its claim, and looks for an unsharded instance",
		lateClaimArrives: "has a claim arrive that it does not wait for any more",
		releases:         "begins to release",
		settleArrives:    "has its second try to claim arrive at the API server",
		readsToErase:     "reads what to erase",
		eraseArrives:     "has its erasure arrive at the API server",
		eraseAnswered:    "knows that its claim is gone",
		lateEraseArrives: "has an erasure arrive that it does not wait for any more",
	}[k]
}

// describe a move in a line.
func (m *model) describe(e move, before, after *state) string {
	who, space := m.name(name(e.proc+1)), fmt.Sprintf("Workspace %d", e.space)

	switch e.kind {
	case relabels:
		return fmt.Sprintf("%s %s %s", space, e.kind, labelNames()[e.arg])
	case starts, killed, pauses, terminated, continues, fenced, exits, acquires:
		return fmt.Sprintf("%s %s", who, e.kind)
	case seesExpired, readsLease:
		return fmt.Sprintf("%s %s %s (%s)", who, e.kind, roleNames()[e.arg], m.name(after.lease[e.arg].holder))
	case decides, cannotReadLease:
		was, is := before.procs[e.proc].work[e.space], after.procs[e.proc].work[e.space]

		return fmt.Sprintf("%s %s %s %s, as it sees label %s, claim of %s", who, e.kind, is.verb(), space, labelNames()[was.seen.label], m.name(was.seen.claim))
	default:
		return fmt.Sprintf("%s %s: %s has label %s, claim of %s", who, e.kind, space, labelNames()[after.label[e.space]], m.name(after.claim[e.space]))
	}
}

// verb says what has just been decided.
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
		return "nobody"
	}

	return fmt.Sprintf("process %d (%s)", n-1, roleNames()[m.roles[n-1]])
}

func roleNames() [roles]string { return [...]string{"shard a", "shard b", "catch-all", "unsharded"} }

func labelNames() []string { return []string{"none", "a", "b"} }
