// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A known is the knowledge of one process about the Lease: a real observation, as a value.
type known struct {
	// holder of the Lease when it was last read. missing says that there was no Lease. current
	// says that the version that was read is the latest.
	holder  name
	missing bool
	current bool

	// blank is 0, or one more than the number of ticks since the Lease was first found missing or
	// empty, without a known holder.
	blank uint8

	names names
	ended set

	// neverLonger says that the own Lease of the process never has the longer duration.
	neverLonger bool
	long        bool
	seen        [identities]seen
}

type seen struct {
	known, asked bool
	left, rank   uint8
	duration     uint8
}

// A names is a list of identities. It ends at the first empty one.
type names [identities - 1]name

type set uint8

// now is the time at which every real function is called, and moment the time of the first
// renewal. A tick is a second.
func now() time.Time    { return time.Unix(1_000_000, 0) }
func moment() time.Time { return time.Unix(1000, 0) }

func seconds(n uint8) time.Duration { return time.Duration(n) * time.Second }

func (n name) String() string { return string(rune('a' + n)) }

func nameOf(s string) name { return name(s[0] - 'a') }

func (l names) list() []string {
	var out []string

	for _, n := range l {
		if n != noName {
			out = append(out, n.String())
		}
	}

	return out
}

func namesOf(list []string) names {
	var out names
	for i, s := range list {
		out[i] = nameOf(s)
	}

	return out
}

func (s set) list() []string {
	var out []string

	for n := range name(identities) {
		if s&(1<<n) != 0 {
			out = append(out, n.String())
		}
	}

	return out
}

func setOf(list []string) set {
	var out set
	for _, s := range list {
		out |= 1 << nameOf(s)
	}

	return out
}

// duration of a Lease in ticks.
func durationOf(long bool) uint8 {
	if long {
		return longDuration
	}

	return shortDuration
}

// observation returns the observation that k stands for.
func (m *model) observation(k known) observation {
	o := newObservation(m.timing(k.neverLonger))
	if k == (known{neverLonger: k.neverLonger}) {
		return o
	}

	o.version = version{resource: "earlier"}
	o.names, o.ended = k.names.list(), k.ended.list()
	o.duration = seconds(durationOf(k.long))
	o.seen = map[string]sighting{}

	if k.holder != noName {
		o.holder = k.holder.String()
	}

	o.missing = k.missing

	switch {
	case k.missing:
		o.version = version{}
	case k.current:
		o.version.resource = "latest"
	}

	if k.blank > 0 {
		o.blank = now().Add(-seconds(k.blank - 1))
	}

	for i, s := range k.seen {
		if s.known {
			o.seen[name(i).String()] = sighting{until: now().Add(seconds(s.left)), renewed: moment().Add(seconds(s.rank)), duration: seconds(s.duration), asked: s.asked}
		}
	}

	return o
}

// knownOf returns the known of an observation right after a read of the Lease.
func knownOf(o *observation) known {
	k := known{current: true, names: namesOf(o.names), ended: setOf(o.ended), long: o.duration == seconds(longDuration)}

	k.missing = o.missing
	if o.holder != "" {
		k.holder = nameOf(o.holder)
	}

	if !o.blank.IsZero() {
		k.blank = 1 + ticksOf(now().Sub(o.blank))
	}

	for id, s := range o.seen {
		k.seen[nameOf(id)] = seen{known: true, asked: s.asked, left: ticksOf(s.until.Sub(now())), rank: ticksOf(s.renewed.Sub(moment())), duration: ticksOf(s.duration)}
	}

	return k
}

func ticksOf(d time.Duration) uint8 { return uint8(max(d, 0) / time.Second) }

// older returns the knowledge one tick later.
func (k known) older() known {
	if k.blank > 0 {
		k.blank = min(k.blank+1, 1+patience)
	}

	for i := range k.seen {
		k.seen[i].left = max(k.seen[i].left, 1) - 1
	}

	return k
}

// object returns the Lease with the supplied content, or nil if there is none.
func (c content) object() *coordinationv1.Lease {
	if !c.exists {
		return nil
	}

	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "latest", Annotations: map[string]string{}}}
	l.Spec.HolderIdentity = new("")
	l.Spec.LeaseDurationSeconds = new(int32(durationOf(c.long)))
	l.Spec.RenewTime = &metav1.MicroTime{Time: moment().Add(seconds(c.rank))}

	if c.holder != noName {
		l.Spec.HolderIdentity = new(c.holder.String())
	}

	if c.names != (names{}) {
		l.Annotations[shard.HoldersAnnotationKey] = strings.Join(c.names.list(), ",")
	}

	if c.released != noName {
		l.Annotations[shard.ReleasedAnnotationKey] = c.released.String()
	}

	return l
}

// read the Lease.
func (m *model) read(k known, c content) known {
	key := question{k: k, c: c}
	if out, ok := m.memo[key]; ok {
		return out.k
	}

	o := m.observation(k)
	o.see(c.object(), now())
	out := knownOf(&o)
	out.neverLonger = k.neverLonger

	for i, s := range k.seen {
		switch {
		case !s.known:
		case m.without == unseenRenewalsCount && (!c.exists || c.holder != name(i)):
			out.seen[i].left = min(out.seen[i].left, s.left)
		case m.without == backupIsNoRenewal && c.exists && c.holder == name(i) && !k.current:
			out.seen[i].left = durationOf(c.long)
		default:
		}
	}

	m.memo[key] = reply{k: out}

	return out
}

// ask for the state of an instance, after the Lease was read.
func (m *model) ask(k known, c content, of name) (known, State) {
	key := question{k: k, c: c, of: of}
	if out, ok := m.memo[key]; ok {
		return out.k, out.state
	}

	o := m.observation(k)
	s := o.state(of.String(), now())

	if m.without == otherHolderIsNoDeath && (!c.exists || c.holder != of) || m.without == strangersMayLive && o.seen[of.String()].asked {
		s = Dead
	}

	out := knownOf(&o)
	out.current, out.neverLonger = k.current, k.neverLonger
	m.memo[key] = reply{k: out, state: s}

	return out, s
}

// mayTake says whether a process that has read the Lease may take it.
func (m *model) mayTake(k known, c content, me name, r processFile) bool {
	switch {
	case m.without == vanishedWaits && !c.exists, m.without == emptiedWaits && c.exists && c.holder == noName:
		return true
	case m.without == strangersMayLead:
		k.blank = 0
	}

	key := question{k: k, c: c, of: me, take: true, file: r}
	if out, ok := m.memo[key]; ok {
		return out.take
	}

	l := m.lockOf(k, me)
	l.options.Files = r
	l.ended = l.prove(c.object())

	out := l.mayTake(now()) == nil
	m.memo[key] = reply{take: out}

	return out
}

// sign the content that a process is about to write.
func (m *model) sign(k known, c content, me name) content {
	l := c.object()
	m.lockOf(k, me).sign(l)

	c.released = noName
	c.names = namesOf(namesIn(l.Annotations[shard.HoldersAnnotationKey]))

	if by := l.Annotations[shard.ReleasedAnnotationKey]; by != "" {
		c.released = nameOf(by)
	}

	return c
}

func (m *model) lockOf(k known, me name) *Lock {
	l := newLock(&apiClient{}, namespace, "lease", me.String(), m.timing(k.neverLonger), nil, nil, LockOptions{Files: noProcessFiles{}})
	l.seen = m.observation(k)

	return l
}

// timing of the Lease of a process.
func (m *model) timing(neverLonger bool) Timing {
	t := Timing{Duration: seconds(shortDuration), RetryPeriod: seconds(patience) / 2}
	if m.faults.applies > 0 && m.without != longestIsAssumed && !neverLonger {
		t.ApplyDuration = seconds(longDuration)
	}

	return t
}

// A question about a Lease that the real code has answered before.
type question struct {
	k    known
	c    content
	of   name
	take bool

	file processFile
}

type reply struct {
	k     known
	state State
	take  bool
}
