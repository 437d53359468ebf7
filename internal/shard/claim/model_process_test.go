// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// lives does one step in the life of a process and its Lease.
func (m *model) lives(s *state, p int, fn yield) {
	n := *s
	me, held := &n.procs[p], &n.lease[m.roles[p]]
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	switch {
	case me.status == absent:
		me.status = standby

		m.catchUp(&n, p)
		done(starts)
	case me.status == gone:
		return
	case me.paused:
		me.paused = false

		done(continues)

		if m.without != fenceKills {
			m.end(&n, p)
			done(fenced)
		}
	case me.status == standby && (held.holder == 0 || m.expired(held, p)):
		*held = leaseState{holder: name(p + 1)}
		me.status = leading

		done(acquires)
	case me.status == standby && n.left.usurpations > 0:
		n.left.usurpations--
		*held = leaseState{holder: name(p + 1)}
		me.status = leading

		done(usurps)
	}

	m.goodbye(s, p, fn)
	m.observe(s, p, fn)
}

// goodbye does one step at the end of a process that has been leading.
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

		m.releaseEarly(&n, p)
		done(terminated)
	}

	if me.status != leading && quiet(me) {
		if l := &n.lease[m.roles[p]]; l.holder == name(p+1) {
			*l = leaseState{}
		}

		m.end(&n, p)
		done(exits)
	}

	m.lost(s, p, fn)
}

// lost does one step of a process that loses its Lease: it aborts its work, which takes time.
func (m *model) lost(s *state, p int, fn yield) {
	n := *s
	me := &n.procs[p]

	if me.status == aborting {
		return
	}

	me.status = aborting

	if n.lease[m.roles[p]].holder != name(p+1) {
		fn(move{kind: notices, proc: uint8(p)}, &n)
	}

	if n.left.outages > 0 {
		n.left.outages--
		m.releaseEarly(&n, p)
		fn(move{kind: outage, proc: uint8(p)}, &n)
	}
}

// releaseEarly releases a Lease before all work has ended, which is wrong.
func (m *model) releaseEarly(s *state, p int) {
	if m.without == leaseIsReleasedLast {
		s.lease[m.roles[p]] = leaseState{}
		s.procs[p].released = true
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

	s.procs[p] = process{status: gone, work: is}
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

func (m *model) expired(l *leaseState, p int) bool { return l.expired&(1<<p) != 0 }

// observe the Leases of others.
func (m *model) observe(s *state, p int, fn yield) {
	if s.procs[p].paused || s.procs[p].status == absent {
		return
	}

	for r := range s.lease {
		l := &s.lease[r]

		if l.holder == 0 || l.holder == name(p+1) || m.expired(l, p) || !m.canExpire(s, l.holder) {
			continue
		}

		n := *s
		n.lease[r].expired |= 1 << p
		fn(move{kind: seesExpired, proc: uint8(p), arg: uint8(r)}, &n)
	}
}

// canExpire says whether the Lease of a process may have been unchanged for long enough. Before
// that, the fence ends a process that could not renew its Lease for so long.
func (m *model) canExpire(s *state, holder name) bool {
	h := s.procs[holder-1]

	return h.status == gone || h.paused && m.without == fenceKills || m.without == deadNeedsExpiry
}

// state returns the state of the process with the supplied name, as another process finds it.
func (m *model) state(s *state, p int, of name) lease.State {
	l := s.lease[m.roles[of-1]]
	switch {
	case l.holder == of && !m.expired(&l, p):
		return lease.Alive
	case l.holder == of || m.without == otherHolderIsNoDeath:
		return lease.Dead
	case s.procs[of-1].status == gone || s.procs[of-1].released:
		return lease.Dead
	default:
		// It may have lost its Lease but still be running.
		return lease.Alive
	}
}

// unsharded returns the state of the holder of the Lease of the unsharded instance.
func (m *model) unsharded(s *state, p int) lease.State {
	if l := s.lease[unsharded]; l.holder != 0 && !m.expired(&l, p) {
		return lease.Alive
	}

	return lease.Dead
}
