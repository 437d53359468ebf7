// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// lives does one step in the life of a process and its session.
func (m *model) lives(s *state, p int, fn yield) {
	n := *s
	me := &n.procs[p]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	switch {
	case me.status == absent:
		if m.gateOpens(s, p) {
			me.status = leading

			m.catchUp(&n, p)
			done(starts)
		}
	case me.status == gone:
		return
	case me.paused:
		me.paused = false

		done(continues)

		if m.without != fenceKills {
			m.end(&n, p)
			done(fenced)
		}
	}

	m.goodbye(s, p, fn)
	m.observe(s, p, fn)
}

// gateOpens says whether a process may work: the sessions of all processes of the same instance have ended.
func (m *model) gateOpens(s *state, p int) bool {
	for q, r := range m.roles {
		if q != p && r == m.roles[p] && s.procs[q].status != absent && !s.procs[q].ended && !m.ungated && m.without != gateWaits {
			return false
		}
	}

	return true
}

// goodbye does one step at the end of a process.
func (m *model) goodbye(s *state, p int, fn yield) {
	n := *s
	me := &n.procs[p]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	if me.status != leading && me.status != stopping && me.status != aborting {
		return
	}

	if n.left.kills > 0 {
		n.left.kills--
		m.end(&n, p)
		done(killed)
	}

	if me.paused {
		return
	}

	if n.left.pauses > 0 {
		n.left.pauses--
		me.paused = true

		done(pauses)
	}

	if me.status == leading && n.left.stops > 0 {
		n.left.stops--
		me.status = stopping
		me.ended = me.ended || m.without == sessionEndsLast

		done(terminated)
	}

	if me.status != leading && quiet(me) {
		m.end(&n, p)
		n.procs[p].ended = true

		done(exits)
	}

	m.lost(s, p, fn)
}

// lost does one step of a process whose session is over: it aborts its work, which takes time.
func (m *model) lost(s *state, p int, fn yield) {
	n := *s
	me := &n.procs[p]

	if me.status == aborting {
		return
	}

	me.status = aborting

	if me.ended {
		fn(move{kind: notices, proc: uint8(p)}, &n)
	}

	if n.left.outages > 0 {
		n.left.outages--
		me.ended = me.ended || m.without == sessionEndsLast

		fn(move{kind: outage, proc: uint8(p)}, &n)
	}
}

// quiet says that nothing is in progress in a process.
func quiet(p *process) bool { return p.work.step == idle && p.work.release == notReleasing }

// end a process. Requests that it has sent may still arrive.
func (m *model) end(s *state, p int) {
	was := s.procs[p].work
	is := work{lateClaim: was.lateClaim, lateErase: was.lateErase, lateStatus: was.lateStatus, lateCarries: was.lateCarries}
	is.late(was.claiming, was.release, was.releasing)

	if was.recording && was.base == valid {
		is.lateStatus, is.lateCarries = valid, was.carries
	}

	if was.step == working && m.without == childrenDie {
		is.step, is.uid = working, was.uid
	}

	s.procs[p] = process{status: gone, ended: s.procs[p].ended, work: is}
}

// late says that no process waits for the supplied requests any more. Requests without a further
// effect are dropped from the state.
func (w *work) late(claiming request, step releaseStep, releasing request) {
	if claiming == valid || step == settling && releasing == valid {
		w.lateClaim = valid
	}

	if step == erasing && releasing == valid {
		w.lateErase = valid
	}
}

// observe the sessions of others, and end those that have expired.
func (m *model) observe(s *state, p int, fn yield) {
	if s.procs[p].paused || s.procs[p].status == gone {
		return
	}

	for q := range m.roles {
		if q == p || s.procs[q].status == absent || s.procs[q].ended || !m.canExpire(s, q) {
			continue
		}

		n := *s
		n.procs[q].ended = true
		fn(move{kind: endsOther, proc: uint8(p), arg: uint8(q)}, &n)
	}
}

// canExpire says whether the Lease of a process may have been unchanged for long enough. Before
// that, the fence ends a process that could not renew its Lease for so long.
func (m *model) canExpire(s *state, q int) bool {
	h := s.procs[q]

	return h.status == gone || h.paused && m.without == fenceKills || m.without == deadNeedsEnd
}

// state returns the state of the session of the process with the supplied name.
func (m *model) state(s *state, of name) session.State {
	if s.procs[of-1].ended {
		return session.Dead
	}

	return session.Alive
}
