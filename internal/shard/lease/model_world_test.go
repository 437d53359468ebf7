// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// A model is one world: its processes, its possible faults, and the rule that it lacks.
type model struct {
	procs  []spec
	lease  content
	backup content
	faults faults

	// connected instances renew the Lease before each tick.
	connected bool

	// brief says that two may work at the same time if this ends before the next tick.
	brief bool

	// unsharded replicas claim nothing.
	unsharded bool

	without rule

	memo map[question]reply
}

// A spec of a process.
type spec struct {
	role  role
	start status

	// place is the pod that it runs in. Without one, it leaves no process file, and its runs end with
	// it: nothing can happen in between.
	place uint8
}

// claims says that a process claims the Workspace before it runs the CLI for it.
func (m *model) claims(i int) bool { return m.procs[i].role == other || !m.unsharded }

// Start returns the initial state: all processes except the absent ones have seen the Lease.
func (m *model) Start() state {
	m.memo = map[question]reply{}
	s := state{lease: m.lease, backup: m.backup, left: m.faults}

	for i, spec := range m.procs {
		s.procs[i].status = spec.start

		s.procs[i].saw.neverLonger = spec.role == other
		if spec.start != absent {
			s.procs[i].saw = m.read(s.procs[i].saw, m.lease)
		}

		if spec.start == leading && spec.role == replica && m.claims(i) {
			s.claim = name(i + 1)
		}
	}

	return s
}

// Fault says that no guarantee may depend on the move.
func (m *model) Fault(e move) bool {
	switch e.kind {
	case starts, killed, pauses, stops, hangs, deletes, empties, restores:
		return true
	default:
		return false
	}
}

// Wrong describes the fault in a state.
func (m *model) Wrong(s *state) string {
	runs := m.writers(s)

	switch {
	case runs > 1 && (!m.brief || s.overlap):
		return twoWriters
	case s.abrupt:
		return killedInRun
	default:
		return ""
	}
}

// writers returns the number of processes that run the CLI.
func (m *model) writers(s *state) int {
	runs := 0

	for i := range s.procs {
		if s.procs[i].runs {
			runs++
		}
	}

	return runs
}

// Goals are two or more: a replica serves the Workspace, and so does each other instance.
func (m *model) Goals() int { return 1 + len(m.procs) }

// Due says whether there is a process that can reach the goal.
func (m *model) Due(s *state, goal int) bool {
	if goal > 0 {
		return m.procs[goal-1].role == other && s.procs[goal-1].status == leading && (!m.unsharded || s.procs[0].status == gone)
	}

	for i, spec := range m.procs {
		p := &s.procs[i]
		if spec.role != replica || p.paused {
			continue
		}

		// A process that leads without its Lease ends, and is started again.
		if p.status == standby || p.status == leading && s.lease.holder == name(i+1) && !p.isLate() {
			return true
		}
	}

	return false
}

// Reached says whether the goal is reached.
func (m *model) Reached(s *state, goal int) bool {
	if goal > 0 {
		return s.procs[goal-1].runs
	}

	for i, spec := range m.procs {
		if spec.role == replica && s.procs[i].runs {
			return true
		}
	}

	return false
}

// Moves that may be next.
func (m *model) Moves(s *state, fn func(move, *state)) {
	m.tick(s, fn)
	m.people(s, fn)

	for i := range m.procs {
		m.network(s, i, fn)
		m.life(s, i, fn)

		if p := &s.procs[i]; p.paused || p.status == absent || p.status == gone {
			continue
		}

		m.lock(s, i, fn)
		m.work(s, i, fn)
	}
}

// tick makes everything older, unless something is due before.
func (m *model) tick(s *state, fn func(move, *state)) {
	n := *s

	for i, spec := range m.procs {
		p := &n.procs[i]
		if p.status == absent {
			continue
		}

		if p.request.sent {
			p.request.age = min(p.request.age+1, longDuration)
		}

		// Children die in less than a tick.
		if p.status == gone && p.runs {
			return
		}

		if p.status == gone {
			continue
		}

		if spec.role == replica && (!m.tickable(p) || m.connected && m.renewable(s, i)) {
			return
		}

		p.saw = p.saw.older()
		p.age = min(p.age+1, longDuration)

		if p.status == standby || spec.role == other {
			p.age = 0
		}
	}

	n.overlap = m.brief && m.writers(s) > 1

	if n != *s {
		fn(move{kind: ticks}, &n)
	}
}

// renewable says that a process has a step to do with its Lease.
func (m *model) renewable(s *state, i int) bool {
	p := &s.procs[i]
	if p.paused || p.status != leading && p.status != draining {
		return false
	}

	switch s.lease.holder {
	case noName:
		return true
	case name(i + 1):
		return p.age > 0
	default:
		return m.without != otherHolderAborts
	}
}

// tickable says that nothing is due in a process.
func (m *model) tickable(p *process) bool {
	switch {
	case p.status != leading && p.status != draining && p.status != aborting:
		return true
	case p.isFenced():
		// The fence is disarmed as soon as this is allowed.
		return !m.armed(p)
	case p.paused:
		return true
	case p.status == aborting:
		return !p.runs || m.without == deadlinesFit
	case !p.isLate():
		return true
	case p.status == draining:
		return m.without == drainingAborts || m.without == deadlineAborts
	default:
		return m.without == deadlineAborts
	}
}

// isLate says that a process has reached its renew deadline.
func (p *process) isLate() bool { return p.age >= durationOf(p.long)-reserve }

// isFenced says that it has reached the time for which its fence is armed.
func (p *process) isFenced() bool { return p.age >= durationOf(p.long)-margin }

// armed says whether the fence of a process is armed.
func (m *model) armed(p *process) bool {
	switch {
	case m.without == fenceKills, p.status == standby:
		return false
	case p.status == aborting && m.without == fenceStaysArmed:
		return false
	default:
		return true
	}
}

// people tamper with the Lease.
func (m *model) people(s *state, fn func(move, *state)) {
	n := *s
	done := func(kind moveKind) {
		fn(move{kind: kind}, &n)
		n = *s
	}

	if n.left.deletions > 0 && n.lease.exists {
		n.left.deletions--
		m.write(&n, content{})
		done(deletes)
	}

	if n.left.emptyings > 0 && n.lease.exists && n.lease.holder != noName {
		n.left.emptyings--

		to := n.lease
		to.holder = noName
		m.write(&n, to)
		done(empties)
	}

	if n.left.restores > 0 && n.lease != n.backup {
		n.left.restores--
		m.write(&n, n.backup)
		done(restores)
	}
}

// write the Lease: no process has seen this version, and writes that are based on the previous
// version are refused.
func (m *model) write(s *state, to content) {
	s.lease = to

	for i := range s.procs {
		p := &s.procs[i]
		p.saw.current = false
		p.recorded, p.request.latest = false, false

		if p.request.sent {
			p.request.stale = true
		}

		if p.request.stale && !p.request.waiting {
			p.request = request{}
		}
	}
}
