// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// cache does one step in which the cache of a process catches up.
func (m *model) cache(s *state, p int, fn yield) {
	is := m.cacheable(s, p)
	was := s.procs[p].work.seen

	if is == was {
		return
	}

	n := *s
	mine := &n.procs[p].work
	mine.seen = is

	if was.found && !is.found && m.without != leavingReleases {
		mine.holdings(func(h *holdings) { h.leave(ref{}, uidOf(was.uid)) })
		mine.due = mine.due || mine.held && m.without == releaseWaitsForWork
	}

	fn(move{kind: catchesUp, proc: uint8(p)}, &n)
}

// reconcile does one step of a worker.
func (m *model) reconcile(s *state, p int, fn yield) {
	n := *s
	mine := &n.procs[p].work
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(p)}, &n)
		n = *s
	}

	switch mine.step {
	case idle:
		if n.procs[p].status == leading {
			m.readAnew(&n, p, done)
		}
	case decided:
		m.begin(mine)
		done(begins)
	case working:
		if !mine.recording {
			mine.step, mine.uid, mine.base, mine.carries = idle, 0, none, 0
			mine.holdings(func(h *holdings) { h.end(ref{}) })
			done(ends)
		}
	case writing:
		m.lose(&n, p, done)
	case refused:
		m.conflicted(&n, p, done)
		m.lose(&n, p, done)
	case denied:
		m.refuse(mine)
		done(claimAnswered)
	case written:
		m.accept(mine)
		done(claimAnswered)
		m.lose(&n, p, done)
	}
}

// accept a claim that was written, and begin work on the Workspace as it was then.
func (m *model) accept(w *work) {
	base, carries := w.base, w.carries
	w.claiming, w.uid = none, w.heldUID
	w.holdings(func(h *holdings) { h.accept(ref{}) })
	m.begin(w)

	if w.step == working {
		w.base, w.carries = base, carries
	} else {
		w.base, w.carries = none, 0
		w.holdings(func(h *holdings) { h.end(ref{}) })
	}
}

// begin work, if it is still allowed.
func (m *model) begin(w *work) {
	w.step = idle
	w.holdings(func(h *holdings) {
		if h.begin(ref{}, uidOf(w.uid)) || m.without == beginLooksAgain || m.without == holdingIsNeeded {
			w.step = working
		}
	})
	w.reads(w.seen)
}

// reads the Workspace at the beginning of work on it.
func (w *work) reads(v view) {
	if w.step != working {
		w.uid = 0

		return
	}

	w.base, w.carries = outdated, v.claim
	if v.latest {
		w.base = valid
	}
}

// conflicted looks whether the Workspace has the claim that was refused. It was repeated then, and the
// first one took effect.
func (m *model) conflicted(s *state, p int, done func(moveKind)) {
	mine := &s.procs[p].work

	if m.without != conflictIsChecked && s.claim == name(p+1) && s.uid == mine.heldUID {
		mine.step = written
		mine.base, mine.carries = valid, name(p+1)

		done(findsClaim)
	} else {
		m.refuse(mine)
		done(claimAnswered)
	}
}

// refuse ends a take without a new claim.
func (m *model) refuse(w *work) {
	w.endTake(func(h *holdings) {
		h.refuse(ref{})

		if m.without == refusedIsKept {
			h.remove(ref{})
		}
	})
}

// endTake ends a take, after a change of the holdings.
func (w *work) endTake(fn func(h *holdings)) {
	w.step, w.claiming, w.base, w.carries = idle, none, none, 0
	w.holdings(func(h *holdings) {
		fn(h)
		h.end(ref{})
	})
}

// lose the answer to a claim.
func (m *model) lose(s *state, p int, done func(moveKind)) {
	if s.left.losses == 0 {
		return
	}

	s.left.losses--
	mine := &s.procs[p].work

	if mine.step == writing {
		mine.late(mine.claiming, notReleasing, none)
	}

	unsure := outdated
	if mine.step == writing {
		unsure = mine.claiming
	}

	mine.endTake(func(h *holdings) {
		switch m.without {
		case doubtIsReleased:
			h.remove(ref{})
		case doubtIsSettled:
			h.leave(ref{}, "")
		default:
			h.doubt(ref{}, theObject())

			mine.unsure = unsure
		}
	})

	done(losesClaim)
}

// readAnew reads a Workspace. If it comes from a cache, the decision follows at once: the cache may
// already be behind.
func (m *model) readAnew(s *state, p int, done func(moveKind)) {
	mine := &s.procs[p].work

	switch {
	case mine.seen.found:
		m.decide(s, p, done)
	case mine.held && !mine.leaving && m.without != leavingReleases:
		mine.holdings(func(h *holdings) { h.leave(ref{}, "") })
		done(decides)
	}
}

// decide which action to take on a Workspace, and begin it.
func (m *model) decide(s *state, p int, done func(moveKind)) {
	before := *s
	m.act(s, p, Decide(m.situation(s, p, false)), done)

	// Reads of Leases may fail.
	*s = before
	m.act(s, p, Decide(m.situation(s, p, true)), func(moveKind) { done(cannotReadLease) })
}

// situation of a process, without the rules that are switched off.
func (m *model) situation(s *state, p int, unreadable bool) Situation {
	mine := &s.procs[p].work
	out := Situation{Me: m.claims[p], Serves: m.serves[m.roles[p]][mine.seen.label]}

	mine.holdings(func(h *holdings) { out.Holds = h.holds(ref{}, uidOf(mine.seen.uid)) })

	if c := mine.seen.claim; c != 0 {
		out.Claimed = m.claims[c-1]
		out.Claimant = m.state(s, c)
	}

	if unreadable {
		out.unreadable(m.without == unknownIsAlive)
	}

	switch m.without {
	case liveClaimIsRespected:
		out.Claimant = session.Dead
	case holdingIsNeeded:
		out.Holds = out.Claimed == out.Me
	default:
	}

	return out
}

// unreadable makes the states that come from a Lease unknown.
func (s *Situation) unreadable(dead bool) {
	as := session.Unknown
	if dead {
		as = session.Dead
	}

	if s.Claimant != "" {
		s.Claimant = as
	}
}

// act on a decision.
func (m *model) act(s *state, p int, a Action, done func(moveKind)) {
	mine := &s.procs[p].work
	changed := false
	read := mine.seen

	switch {
	case a == Take && m.without == claimIsNeeded:
		mine.step, mine.uid = working, read.uid
		mine.reads(read)
	case a == Proceed:
		mine.step, mine.uid = decided, read.uid
	case a == Take:
		changed = m.take(mine)
	case a == Release:
		mine.holdings(func(h *holdings) { h.leave(ref{}, "") })
	}

	if changed || mine.step != idle || a == Release {
		done(decides)
	}
}

// take a Workspace. It returns false if that would have no effect, neither on the Workspace nor
// on the holdings.
func (m *model) take(mine *work) bool {
	if !mine.seen.latest && !mine.held && m.without != claimNeedsVersion {
		return false
	}

	if m.without == takeWaitsForRelease && !mine.busy {
		mine.held, mine.leaving, mine.unsure = false, false, none
	}

	taken := false

	mine.holdings(func(h *holdings) { taken = h.add(ref{}, uidOf(mine.seen.uid), false) })

	if !taken {
		return false
	}

	mine.step, mine.claiming = writing, valid
	if !mine.seen.latest {
		mine.claiming = outdated
	}

	mine.busy = mine.busy && m.without != takeIsWork

	return true
}
