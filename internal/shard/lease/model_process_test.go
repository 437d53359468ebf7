// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// life starts or ends a process.
func (m *model) life(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]

	switch {
	case p.status == absent && n.left.starts > 0:
		n.left.starts--

		p.status = standby
		if m.procs[i].role == other {
			p.status = leading
		}

		fn(move{kind: starts, proc: uint8(i)}, &n)
	case p.status == gone && p.runs:
		p.runs = false

		fn(move{kind: childrenDie, proc: uint8(i)}, &n)
	case p.status == absent, p.status == gone, m.procs[i].role != replica:
	default:
		m.die(s, i, fn)
		m.pause(s, i, fn)

		if !p.paused {
			m.stop(s, i, fn)
			m.exit(s, i, fn)
		}
	}
}

// die at once.
func (m *model) die(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]

	if p.isFenced() && m.armed(p) {
		n.abrupt = p.runs && !p.paused
		m.killed(&n, i)
		fn(move{kind: isFenced, proc: uint8(i)}, &n)
	}

	n = *s

	if n.left.kills > 0 {
		n.left.kills--

		m.killed(&n, i)
		fn(move{kind: killed, proc: uint8(i)}, &n)
	}
}

// pause or continue a process.
func (m *model) pause(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]

	switch {
	case p.paused && p.isFenced() && m.armed(p):
		// The signal of the fence kills a stopped process, too.
	case p.paused:
		p.paused = false

		fn(move{kind: continues, proc: uint8(i)}, &n)
	case n.left.pauses > 0:
		n.left.pauses--
		p.paused = true

		fn(move{kind: pauses, proc: uint8(i)}, &n)
	}
}

// stop begins to drain, or to abort at the renew deadline.
func (m *model) stop(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]

	if n.left.stops > 0 && p.status == leading {
		n.left.stops--
		p.status = draining

		fn(move{kind: stops, proc: uint8(i)}, &n)
	}

	n = *s

	if p.isLate() && m.without != deadlineAborts && (p.status == leading || p.status == draining && m.without != drainingAborts) {
		m.abort(&n, i)
		fn(move{kind: aborts, proc: uint8(i)}, &n)
	}
}

// abort begins to end the run of a process.
func (m *model) abort(s *state, i int) {
	p := &s.procs[i]
	p.status = aborting
	p.request.waiting = false

	if m.without == leaseIsReleasedLast && s.lease.exists && s.lease.holder == name(i+1) {
		m.release(s, i)
	}
}

// exit of a process that has no run left.
func (m *model) exit(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]

	if p.runs || p.status != draining && p.status != aborting {
		return
	}

	if n.lease.exists && n.lease.holder == name(i+1) && !p.request.waiting {
		m.release(&n, i)
		m.end(p)
		fn(move{kind: releases, proc: uint8(i)}, &n)
	}

	n = *s

	m.end(p)
	fn(move{kind: exits, proc: uint8(i)}, &n)
}

// release the Lease.
func (m *model) release(s *state, i int) {
	p := &s.procs[i]
	p.saw = m.read(p.saw, s.lease)

	to := s.lease
	to.holder = noName
	m.write(s, m.sign(p.saw, to, name(i+1)))
}

// killed ends a process. Its children die a moment later.
func (m *model) killed(s *state, i int) {
	p := &s.procs[i]
	runs := p.runs && m.procs[i].place != 0

	m.end(p)
	p.runs = runs
}

// end a process. Requests that it has sent may still arrive.
func (m *model) end(p *process) {
	r, recorded := p.request, p.recorded
	r.waiting = false

	if r.stale || r.accepted {
		r = request{}
	}

	if !r.sent {
		*p = process{status: gone, recorded: recorded}
	} else {
		*p = process{status: gone, recorded: recorded, request: r, saw: p.saw, rank: p.rank}
	}
}

// lock does one step of a process with the Lease.
func (m *model) lock(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]
	me := name(i + 1)
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(i)}, &n)
		n = *s
	}

	p.saw = m.read(p.saw, n.lease)
	if p.saw != s.procs[i].saw {
		done(observes)
	}

	if m.procs[i].role != replica || p.request.waiting {
		return
	}

	p.saw = m.read(p.saw, n.lease)
	l := n.lease

	switch {
	case p.status == standby && (l.holder == me || m.mayTake(p.saw, l, me, m.fileFor(&n, i))):
		m.send(&n, i, done)
	case p.status == leading || p.status == draining:
		if l.exists && l.holder != me && l.holder != noName {
			if m.without != otherHolderAborts {
				m.abort(&n, i)
				done(seesOther)
			}

			return
		}

		m.send(&n, i, done)
	}
}

// send a write of the Lease. It is answered at once, or hangs.
func (m *model) send(s *state, i int, done func(moveKind)) {
	p := &s.procs[i]
	mine := s.lease.exists && s.lease.holder == name(i+1)

	long := p.runs && (p.long || s.left.applies > 0)
	if long && !p.long {
		s.left.applies--
	}

	// A renewal within the tick of the last one changes nothing.
	renewed := mine && p.status != standby && p.age == 0 && p.long == long

	// Even without an answer, others may see this duration from now on.
	if !long && m.without != shorterArmsFirst {
		p.shorten()
	}

	before := *s

	if !renewed {
		m.accept(s, i, long)
		m.answer(s, i, request{long: long, latest: true})

		if mine {
			done(renews)
		} else {
			done(acquires)
		}
	}

	if before.left.hangs > 0 {
		*s = before
		s.left.hangs--
		s.procs[i].request = request{sent: true, waiting: true, long: long}

		done(hangs)
	}
}

// shorten the time that a process may go without an answer, if that time is longer.
func (p *process) shorten() {
	if p.status != standby && p.long && p.age+shortDuration < longDuration {
		p.age, p.long = 0, false
	}
}

// accept a write of the Lease.
func (m *model) accept(s *state, i int, long bool) {
	p := &s.procs[i]

	to := content{exists: true, holder: name(i + 1), long: long, rank: p.rank}
	if s.lease.exists && s.lease.holder == to.holder && s.lease.long != long {
		to.rank++
		p.rank++
	}

	m.write(s, m.sign(p.saw, to, to.holder))
}

// answer a write of the Lease that was sent earlier and accepted.
func (m *model) answer(s *state, i int, r request) {
	p := &s.procs[i]
	if p.status == standby {
		p.status = leading
	}

	p.age, p.long = r.age, r.long
	if m.without == fenceCountsFromRequest {
		p.age = 0
	}

	p.recorded = r.latest && m.procs[i].place != 0

	if p.isFenced() && m.armed(p) {
		m.killed(s, i)
	}
}

// work on the Workspace.
func (m *model) work(s *state, i int, fn func(move, *state)) {
	n := *s
	p := &n.procs[i]
	me := name(i + 1)
	done := func(kind moveKind) {
		fn(move{kind: kind, proc: uint8(i)}, &n)
		n = *s
	}

	switch {
	case p.runs:
		p.runs = false

		done(ends)
	case p.status != leading:
	case !m.claims(i):
		// A claim counts only if its instance is alive.
		if n.claim == noName {
			p.runs = true

			done(begins)
		}
	case n.claim != me:
		m.take(&n, i)
		done(takes)
	default:
		if m.unsharded && !p.checked {
			m.check(&n, i)
			done(checks)
		} else {
			p.runs = true

			done(begins)
		}

		n.claim, p.checked = noName, false

		done(givesBack)
	}
}

// take the Workspace, unless a live instance has claimed it.
func (m *model) take(s *state, i int) {
	p := &s.procs[i]
	dead := s.claim == noName

	if !dead && m.procs[s.claim-1].role == replica {
		if m.without != deathNeedsRead {
			p.saw = m.read(p.saw, s.lease)
		}

		var is State

		p.saw, is = m.ask(p.saw, s.lease, s.claim)
		dead = is == Dead
	}

	if dead {
		s.claim, p.checked = name(i+1), false
	}
}

// check that there is no unsharded instance. Otherwise release the Workspace.
func (m *model) check(s *state, i int) {
	p := &s.procs[i]
	p.saw = m.read(p.saw, s.lease)
	o := m.observation(p.saw)

	holder, _ := o.alive(now())

	if holder == "" {
		p.checked = true
	} else {
		s.claim = noName
	}
}
