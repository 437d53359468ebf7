// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A model is one world: its processes, its possible faults, and the rule that it lacks.
type model struct {
	roles  []role
	start  []status
	labels []label
	faults faults

	// liveBackups says that the claims of instances that are alive can be restored.
	liveBackups bool

	// ungated processes of one instance work at the same time: there is no leader election.
	ungated bool

	without rule

	// Derived from the roles.
	serves [roles][]bool
	claims [maxProcs]Claim
}

// prepare the derived fields.
func (m *model) prepare() {
	m.serves = [roles][]bool{}

	ids := [roles]shard.ID{shardA: mustParse("a"), shardB: mustParse("b"), catchAll: shard.CatchAll(), unsharded: {}}
	for r, id := range ids {
		for _, l := range []map[string]string{nil, {shard.LabelKey: "a"}, {shard.LabelKey: "b"}} {
			m.serves[r] = append(m.serves[r], id.Serves(l, ""))
		}
	}

	for p, r := range m.roles {
		m.claims[p] = Claim{Lease: string(rune('0' + p)), Instance: ids[r].Instance()}
	}
}

// Start returns the initial state.
func (m *model) Start() state {
	m.prepare()

	s := state{left: m.faults}

	s.label = m.labels[0]

	for p, status := range m.start {
		s.procs[p].status = status

		if status == leading {
			m.catchUp(&s, p)
		}
	}

	return s
}

func (m *model) catchUp(s *state, p int) {
	s.procs[p].work.seen = m.cacheable(s, p)
}

// cacheable is the content of the cache of a process that is not behind.
func (m *model) cacheable(s *state, p int) view {
	if !m.serves[m.roles[p]][s.label] {
		return view{}
	}

	return view{found: true, uid: s.uid, label: s.label, claim: s.claim, latest: true}
}

// changed records a new version of the Workspace.
func (m *model) changed(s *state) {
	for p := range m.roles {
		s.procs[p].work.outdate(m.without != claimNeedsVersion && m.without != eraseNeedsVersion && m.without != eraseNeedsOwnClaim)
	}
}

// A yield takes a next state, and the move that led to it.
type yield func(e move, s *state)

// Moves calls fn with each possible next move.
func (m *model) Moves(s *state, fn func(move, *state)) {
	m.people(s, fn)
	m.tamper(s, fn)

	for p := range m.roles {
		m.lives(s, p, fn)
		m.network(s, p, fn)

		if at := s.procs[p].status; !s.procs[p].paused && at != absent && at != gone {
			m.cache(s, p, fn)
			m.reconcile(s, p, fn)
			m.record(s, p, fn)
			m.release(s, p, fn)
		}
	}
}

// people relabel the Workspace.
func (m *model) people(s *state, fn yield) {
	if s.left.relabels == 0 {
		return
	}

	for _, l := range m.labels {
		if l != s.label {
			n := *s
			n.left.relabels--
			n.label = l
			m.changed(&n)
			fn(move{kind: relabels, arg: uint8(l)}, &n)
		}
	}
}

// tamper with the status of the Workspace, or replace the Workspace.
func (m *model) tamper(s *state, fn yield) {
	n := *s
	done := func(kind moveKind, arg name) {
		m.changed(&n)
		fn(move{kind: kind, arg: uint8(arg)}, &n)
		n = *s
	}

	if s.left.erasures > 0 && s.claim != 0 {
		n.left.erasures--
		n.claim = 0

		done(erases, 0)
	}

	for p := range m.roles {
		if s.left.restores > 0 && s.claim != name(p+1) && (s.procs[p].status == gone || m.liveBackups) {
			n.left.restores--
			n.claim = name(p + 1)
			done(restores, name(p+1))
		}
	}

	if s.left.copies > 0 {
		n.left.copies--
		n.uid++

		// It is in the status of the copy, but was written for another UID.
		if m.without != claimIsForUID {
			n.claim = 0
		}

		done(copies, 0)
	}
}

// Wrong says that two processes work on one Workspace.
func (m *model) Wrong(s *state) string {
	var workers [uids]int

	for p := range m.roles {
		if is := &s.procs[p].work; is.step == working {
			workers[is.uid]++
		}
	}

	if slices.Max(workers[:]) > 1 {
		return twoWorkers
	}

	return ""
}

// Goals is one: an instance that is to serve the Workspace works on it.
func (m *model) Goals() int { return 1 }

// Reached says that an instance that is to serve the Workspace works on it.
func (m *model) Reached(s *state, _ int) bool {
	for p, r := range m.roles {
		is := &s.procs[p].work
		if is.step == working && is.uid == s.uid && m.serves[r][s.label] {
			return true
		}
	}

	return false
}

// Due says that there is an instance that is to serve the Workspace.
func (m *model) Due(s *state, _ int) bool {
	for p, r := range m.roles {
		at := s.procs[p]

		if at.status == leading && !at.ended && !at.paused && m.serves[r][s.label] {
			return true
		}
	}

	return false
}

// Fault says that later moves do not depend on a move.
func (m *model) Fault(e move) bool {
	switch e.kind {
	case starts, relabels, killed, pauses, terminated, losesClaim, losesRelease, losesStatus, claimRepeats, eraseRepeats, statusRepeats, claimIsDenied, outage, erases, restores, copies, records, cannotReadLease:
		return true
	default:
		return false
	}
}
