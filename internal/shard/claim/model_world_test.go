// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A model is one world: its processes, its possible faults, and the rule that it lacks.
type model struct {
	roles  []role
	start  []status
	labels []label
	spaces int
	faults faults

	// liveBackups says that the claims of instances that are alive can be restored.
	liveBackups bool

	without rule

	// Derived from the roles.
	serves [roles][]bool
	claims [maxProcs]Claim
}

// prepare the derived fields.
func (m *model) prepare() {
	m.serves = [roles][]bool{}

	ids := [roles]shard.ID{shardA: mustParse("a"), shardB: mustParse("b"), catchAll: shard.CatchAll()}
	for r, id := range ids {
		for _, l := range []map[string]string{nil, {shard.LabelKey: "a"}, {shard.LabelKey: "b"}} {
			m.serves[r] = append(m.serves[r], id.Serves(l, ""))
		}
	}

	for p, r := range m.roles {
		m.claims[p] = Claim{Lease: ids[r].LeaseName(), Holder: string(rune('0' + p))}
	}
}

func mustParse(name string) shard.ID {
	id, _ := shard.Parse(name)

	return id
}

// Start returns the initial state.
func (m *model) Start() state {
	m.prepare()

	s := state{left: m.faults}

	for w := range m.spaces {
		s.label[w] = m.labels[0]
	}

	for p, status := range m.start {
		s.procs[p].status = status

		switch status {
		case leading:
			s.lease[m.roles[p]].holder = name(p + 1)

			m.catchUp(&s, p)
		case standby:
			m.catchUp(&s, p)
		case absent, stopping, aborting, gone:
		}
	}

	return s
}

func (m *model) catchUp(s *state, p int) {
	for w := range m.spaces {
		s.procs[p].work[w].seen = m.cacheable(s, p, w)
	}
}

// cacheable is the content of the cache of a process that is not behind.
func (m *model) cacheable(s *state, p, w int) view {
	if !m.cached(p) || !m.serves[m.roles[p]][s.label[w]] {
		return view{}
	}

	return view{found: true, uid: s.uid[w], label: s.label[w], claim: s.claim[w], latest: true}
}

// cached says whether a process decides on the content of its cache.
func (m *model) cached(p int) bool {
	return m.roles[p] != unsharded || m.without == unshardedReadsLive
}

// changed records a new version of a Workspace.
func (m *model) changed(s *state, w int) {
	for p := range m.roles {
		s.procs[p].work[w].outdate(m.without != claimNeedsVersion && m.without != eraseNeedsVersion && m.without != eraseNeedsOwnClaim)
	}
}

// A yield takes a next state, and the move that led to it.
type yield func(e move, s *state)

// Moves calls fn with each possible next move.
func (m *model) Moves(s *state, fn func(move, *state)) {
	for w := range m.spaces {
		m.people(s, w, fn)
		m.tamper(s, w, fn)
	}

	for p := range m.roles {
		m.lives(s, p, fn)

		for w := range m.spaces {
			m.network(s, p, w, fn)

			if at := s.procs[p].status; !s.procs[p].paused && (at == standby || at == leading || at == stopping || at == aborting) {
				m.cache(s, p, w, fn)
				m.reconcile(s, p, w, fn)
				m.record(s, p, w, fn)
				m.release(s, p, w, fn)
			}
		}
	}
}

// people relabel Workspaces.
func (m *model) people(s *state, w int, fn yield) {
	if s.left.relabels == 0 {
		return
	}

	for _, l := range m.labels {
		if l != s.label[w] {
			n := *s
			n.left.relabels--
			n.label[w] = l
			m.changed(&n, w)
			fn(move{kind: relabels, space: uint8(w), arg: uint8(l)}, &n)
		}
	}
}

// tamper with the status of a Workspace, or replace the Workspace.
func (m *model) tamper(s *state, w int, fn yield) {
	n := *s
	done := func(kind moveKind, arg name) {
		m.changed(&n, w)
		fn(move{kind: kind, space: uint8(w), arg: uint8(arg)}, &n)
		n = *s
	}

	if s.left.erasures > 0 && s.claim[w] != 0 {
		n.left.erasures--
		n.claim[w] = 0

		done(erases, 0)
	}

	for p := range m.roles {
		if s.left.restores > 0 && s.claim[w] != name(p+1) && m.roles[p] != unsharded && (s.procs[p].status == gone || m.liveBackups) {
			n.left.restores--
			n.claim[w] = name(p + 1)
			done(restores, name(p+1))
		}
	}

	if s.left.copies > 0 {
		n.left.copies--
		n.uid[w]++

		// It is in the status of the copy, but was written for another UID.
		if m.without != claimIsForUID {
			n.claim[w] = 0
		}

		done(copies, 0)
	}
}
