// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A model is one world: its possible faults, and the rule that it lacks.
type model struct {
	faults faults

	// applies says that runs need the long duration.
	applies bool

	without rule
}

// Start returns the initial state: the session was just opened.
func (m *model) Start() state {
	s := state{left: m.faults, lease: lease{exists: true, uid: 1, version: 1, count: first, seconds: short}}
	s.process = process{alive: true, fence: short - 1, uid: 1, version: 1, count: first, seconds: short}
	s.observer.count = -1

	return s
}

// fresh is a version or UID that never was there before, and gone a version that never comes back.
const (
	fresh = 200
	gone  = 201
)

// Moves calls fn with each possible next move.
func (m *model) Moves(s *state, fn func(move, *state)) {
	done := func(e move, n state) {
		m.canonical(&n)
		fn(e, &n)
	}

	m.tick(*s, done)
	m.people(*s, done)
	m.arrivals(*s, done)
	m.observe(*s, done)

	if s.process.alive {
		m.renew(*s, done)
		m.work(*s, done)
	} else if s.process.child {
		n := *s
		n.process.child = false
		done(childEnds, n)
	}
}

// tick lets time pass. A child of a process that was killed dies with the container.
func (m *model) tick(n state, done func(move, state)) {
	if n.process.child {
		return
	}

	p, o := &n.process, &n.observer
	for _, age := range []*uint8{&p.age, &p.renewal.age, &p.firstAge, &o.age} {
		*age = min(*age+1, long)
	}

	if p.fence > 0 {
		p.fence--
	}

	if p.alive && p.fence == 0 && p.runs && m.without != fenceKills {
		n.process = process{late: p.late}
	}

	done(ticks, n)
}

// work does one step of a process, apart from its renewals.
func (m *model) work(s state, done func(move, state)) {
	n, p := s, s.process

	switch {
	case p.runs:
		n.process.runs = false
		done(ends, n)
	case p.over:
		m.end(&n)

		n.process = process{late: p.late}

		done(endsOwn, n)
	case p.fence > 0:
		n.process.runs = true
		done(begins, n)
	}

	if s.left.kills > 0 {
		n = s
		n.left.kills--
		n.process = process{late: p.late, child: p.runs}

		if p.renewal.sent && !p.renewal.arrived {
			n.process.late = p.renewal
		}

		done(kills, n)
	}
}

// end writes the end, on whatever Lease there is.
func (m *model) end(s *state) {
	if !s.lease.exists {
		s.lease = lease{exists: true, uid: fresh, seconds: short}
	}

	s.lease.ended, s.lease.version, s.lease.changed = true, fresh, true
}

// now is any time that is late enough.
const now = 100 * time.Second

// ticking is a Timing with the fence one second, which is a tick, before the end of the duration.
func ticking() Timing {
	return Timing{Duration: short * time.Second, RenewDeadline: (short - 10) * time.Second}
}

// renewals returns the real ones of a process.

func (p *process) renewals() renewals {
	return renewals{
		version: versionIs(p.uid, p.version), count: int32(p.count), attempted: p.attempted,
		start: now - ticksOf(p.age), duration: ticksOf(p.seconds),
		first: now - ticksOf(p.firstAge), shortest: ticksOf(p.firstShortest),
	}
}

func (p *process) setRenewals(r renewals) {
	p.uid, p.version = r.version.uid[0], r.version.resource[0]
	p.count, p.attempted = uint8(r.count), r.attempted
	p.age, p.seconds = uint8((now-r.start)/time.Second), uint8(r.duration/time.Second)
	p.firstAge, p.firstShortest = 0, 0

	if r.attempted {
		p.firstAge, p.firstShortest = uint8((now-r.first)/time.Second), uint8(r.shortest/time.Second)
	}
}

func versionIs(uid, v uint8) version {
	return version{uid: types.UID([]byte{uid}), resource: string([]byte{v})}
}

func ticksOf(n uint8) time.Duration { return time.Duration(n) * time.Second }

// real returns the Lease as the code reads it, or nil.
func (l lease) real() *coordinationv1.Lease {
	if !l.exists {
		return nil
	}

	out := &coordinationv1.Lease{}
	out.SetUID(types.UID([]byte{l.uid}))
	out.SetResourceVersion(string([]byte{l.version}))
	out.Spec = coordinationv1.LeaseSpec{HolderIdentity: new("p"), LeaseTransitions: new(int32(l.count)), LeaseDurationSeconds: new(int32(l.seconds))}

	if l.emptied {
		out.Spec.HolderIdentity = nil
	}

	if l.ended {
		end(out, "p")
	}

	return out
}

// extend moves the fence to that of a renewal that started some ticks ago.
func (p *process) extend(age, seconds uint8) {
	p.fence = 0
	if seconds > age+1 {
		p.fence = seconds - 1 - age
	}
}

// renew does one step of the renewals of a process.
func (m *model) renew(s state, done func(move, state)) {
	n := s
	p := &n.process

	if p.over {
		return
	}

	if p.renewal.sent {
		m.answer(s, done)

		return
	}

	seconds := uint8(short)
	if m.applies && p.runs {
		seconds = long
	}

	r := p.renewals()
	r.attempt(now, ticksOf(seconds))
	p.setRenewals(r)

	if m.without == firstStartCounts {
		p.firstAge = 0
	}

	p.renewal = renewal{sent: true, uid: p.uid, base: p.version, seconds: seconds, no: p.count + 1}

	if seconds-1 < p.fence && m.without != shorterIsFenced {
		p.fence = seconds - 1
	}

	if p.fence > 0 || !p.runs {
		done(sends, n)
	}
}

// answer is that of the API server to a renewal.
func (m *model) answer(s state, done func(move, state)) {
	n, r := s, s.process.renewal

	switch {
	case !r.arrived:
		n.process.renewal.arrived, n.process.renewal.accepted = true, n.apply(r)
		done(arrives, n)
	case r.accepted:
		n.process.renewal = renewal{}
		n.process.renewed(&n, r, m.without)
		done(renews, n)
	default:
		n.process.renewal = renewal{}
		m.conflicted(&n)
		done(conflicts, n)
	}

	if s.left.losses > 0 {
		n = s
		n.left.losses--
		n.process.renewal = renewal{}

		if r.arrived {
			done(losesAnswer, n)
		} else {
			n.process.late = r
			done(losesRequest, n)
		}
	}

	if s.left.repeats > 0 && r.accepted {
		n = s
		n.left.repeats--
		n.process.renewal = renewal{}
		m.conflicted(&n)
		done(repeatsAnswer, n)
	}
}

// renewed records the answer to a renewal. The Lease may have changed since.
func (p *process) renewed(s *state, r renewal, without rule) {
	age := r.age
	if without == startCounts {
		age = 0
	}

	last := renewals{}
	last.renewed(lease{exists: true, uid: r.uid, version: r.base, count: r.no}.real(), now-ticksOf(age), ticksOf(r.seconds))
	p.setRenewals(last)
	p.extend(age, r.seconds)

	// The answer has the version that the request has made. Another one cannot become that.
	p.version = gone
	if l := s.lease; l.exists && l.uid == r.uid && l.count == r.no && !l.changed {
		p.version = l.version
	}
}

// apply is the effect of a renewal on the API server. It returns false if it conflicts.
func (s *state) apply(r renewal) bool {
	l := &s.lease
	if !l.exists || l.uid != r.uid || l.version != r.base {
		return false
	}

	l.version, l.count, l.seconds, l.emptied, l.ended, l.changed = fresh, r.no, r.seconds, false, false, false

	return true
}

// conflicted lets the process read its Lease, and decide.
func (m *model) conflicted(s *state) {
	p := &s.process

	if m.without == ownVersion && s.lease.exists && !s.lease.ended {
		r := p.renewals()
		r.renewed(s.lease.real(), r.start, r.duration)
		p.setRenewals(r)

		return
	}

	r, at := p.renewals(), now
	if m.without == lateConflictIsEnd {
		at = 0
	}

	switch r.refused(s.lease.real(), at, ticking()) {
	case over:
		p.over = true
	case again:
		p.setRenewals(r)
	case renewed:
		p.setRenewals(r)
		p.extend(p.age, p.seconds)
	}
}

// arrivals are requests whose sender does not wait for them any more.
func (m *model) arrivals(s state, done func(move, state)) {
	if s.process.late.sent {
		n := s
		n.apply(s.process.late)
		n.process.late = renewal{}
		done(lateArrives, n)
	}

	if o := s.observer; o.ending {
		n := s
		n.observer.ending, n.observer.endsNone, n.observer.endVersion, n.observer.endUID = false, false, 0, 0

		if l := s.lease; o.endsNone && !l.exists || !o.endsNone && l.exists && l.version == o.endVersion && l.uid == o.endUID {
			m.end(&n)
		}

		done(endArrives, n)
	}
}

// observe does one step of the observer, or of the next process of the pod.
func (m *model) observe(s state, done func(move, state)) {
	if p := s.process; !p.alive && (!p.child || m.without == childrenHoldLock) && s.lease.exists && !s.lease.ended {
		n := s
		m.end(&n)
		done(proves, n)
	}

	if s.observer.ended {
		return
	}

	n := s
	o := s.observer.real()
	o.see(s.lease.real(), time.Unix(0, 0))
	o.ended = o.ended || m.without == emptyIsNoEnd && s.lease.exists && s.lease.emptied
	n.observer.set(o)

	if n != s {
		done(reads, n)
	}

	m.expire(s, done)
}

// expire lets the observer end a session that has expired.
func (m *model) expire(s state, done func(move, state)) {
	atLeast, named := ticksOf(short), ticksOf(short)
	if m.applies && m.without != missingIsLongest {
		named = ticksOf(long)
	}

	if m.without == ownDurationCounts {
		atLeast = 0
	}

	seen := s.observer.real()
	if !seen.expired(time.Unix(0, 0), atLeast, named) || s.observer.ending {
		return
	}

	n := s

	if m.without == endIsWritten {
		n.observer.ended = true
	} else {
		n.observer.ending, n.observer.endsNone = true, s.observer.missing
		n.observer.endVersion, n.observer.endUID = s.observer.version, s.observer.uid
	}

	done(sendsEnd, n)

	// The API server may refuse a Lease where there is none.
	if s.observer.missing {
		n = s
		n.observer.ended = true
		done(endRefused, n)
	}
}

func (o *observer) real() observation {
	out := observation{
		ended: o.ended, read: o.read, missing: o.missing, since: time.Unix(-int64(o.age), 0), count: int32(o.count),
		duration: ticksOf(o.duration), longest: ticksOf(o.longestOfSeen),
	}
	if o.read && !o.missing {
		out.version = versionIs(o.uid, o.version)
	}

	return out
}

func (o *observer) set(r observation) {
	o.ended, o.read, o.missing, o.count = r.ended, r.read, r.missing, int8(r.count)
	o.duration, o.longestOfSeen = uint8(r.duration/time.Second), uint8(r.longest/time.Second)
	o.age = uint8(-r.since.Unix())
	o.uid, o.version = 0, 0

	if r.read && !r.missing {
		o.uid, o.version = r.version.uid[0], r.version.resource[0]
	}
}

// people change the Lease.
func (m *model) people(s state, done func(move, state)) {
	change := func(e move, left func(f *faults) *uint8, fn func(n *state)) {
		n := s
		if f := left(&n.left); *f > 0 {
			*f--

			fn(&n)

			n.lease.version, n.lease.changed = fresh, true
			done(e, n)
		}
	}

	if l := s.lease; l.exists && !l.ended {
		change(deletes, func(f *faults) *uint8 { return &f.deletes }, func(n *state) { n.lease = lease{} })
		change(empties, func(f *faults) *uint8 { return &f.empties }, func(n *state) { n.lease.emptied = true })
		change(edits, func(f *faults) *uint8 { return &f.edits }, func(*state) {})
		change(shortens, func(f *faults) *uint8 { return &f.shortens }, func(n *state) { n.lease.seconds = 0 })

		if s.left.copies > 0 && !s.copied {
			n := s
			n.copied, n.copy = true, l
			n.copy.version = 0
			done(copies, n)
		}
	}

	if s.copied {
		change(putsBack, func(f *faults) *uint8 { return &f.copies }, func(n *state) {
			uid := n.lease.uid
			if !n.lease.exists {
				uid = fresh
			}

			n.lease, n.copied, n.copy = n.copy, false, lease{}
			n.lease.uid = uid
		})
	}
}

// canonical renumbers versions, UIDs and counts: only differences matter. Requests without an effect are
// dropped.
func (m *model) canonical(s *state) {
	p, o, l := &s.process, &s.observer, &s.lease

	if !l.exists {
		*l = lease{}
	}

	// Only the renewal that waits for its answer has to know.
	l.changed = l.changed && p.renewal.accepted

	if p.late.sent && (p.late.base != l.version || p.late.uid != l.uid || !l.exists) {
		p.late = renewal{}
	}

	if o.ended {
		*o = observer{ended: true}
	}

	if !p.renewal.sent {
		p.renewal.age = 0
	}

	if !p.attempted {
		p.firstAge, p.firstShortest = 0, 0
	}

	if !p.alive {
		*p = process{child: p.child, late: p.late}
	}

	renumber(&l.version, &p.version, &p.renewal.base, &p.late.base, &o.version, &o.endVersion)
	renumber(&l.uid, &p.uid, &p.renewal.uid, &p.late.uid, &o.uid, &o.endUID, &s.copy.uid)

	if by := int(first) - int(p.count); p.alive && by != 0 {
		for _, c := range []*uint8{&l.count, &p.count, &p.renewal.no, &p.late.no, &s.copy.count} {
			*c = uint8(max(int(*c)+by, 0))
		}

		if o.count >= 0 {
			o.count = int8(max(int(o.count)+by, 0))
		}
	}
}

// renumber numbers values in the order of the fields that have them. 0 is none.
func renumber(fields ...*uint8) {
	var (
		numbers [256]uint8
		n       uint8
	)

	for _, f := range fields {
		if *f != 0 && numbers[*f] == 0 {
			n++
			numbers[*f] = n
		}

		*f = numbers[*f]
	}
}
