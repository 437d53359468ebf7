// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A mix selects the targets of faults.
type mix struct {
	// lasts is for how long there are new faults.
	lasts time.Duration

	// lease is the duration of a Lease, renew how long an instance tries to renew it, and
	// fenced the time without a renewal after which it kills itself.
	lease, renew, fenced time.Duration

	// kinds of faults.
	kinds []weighted

	// instances by the shard that they serve, "" for none: the catch-all.
	instances map[string][]string

	// disk is the shard whose only instance keeps its disk: it has the Workspaces
	// without a backend.
	disk string

	// workspaces is how many there are at the start, and about as many stay.
	workspaces int
}

func (m mix) has(k kind) bool {
	return slices.ContainsFunc(m.kinds, func(w weighted) bool { return w.kind == k })
}

func (m mix) shards() []string {
	var all []string

	for shard := range m.instances {
		all = append(all, shard)
	}

	slices.Sort(all)

	return all
}

// A scheduler makes a schedule.
type scheduler struct {
	mix

	rng *rand.Rand

	// shard of each existing Workspace, in the order of names. Special are the ones that
	// share a state or fail: they get fewer faults.
	names, special []string
	shard          map[string]string
	born           int

	// sluggish are the Workspaces whose applies take long and do not end at once.
	sluggish map[string]bool

	// created is when a special Workspace is.
	created map[string]time.Duration

	// count of the Workspaces of a kind.
	count map[kind]int

	// away is until when an instance, or the API server (""), is away.
	away map[string]time.Duration

	faults []fault
}

// schedule returns faults for the mix, in the order in which they happen. The same
// seed makes the same schedule. Before they begin, every Workspace of the mix is
// created.
func schedule(seed uint64, m mix) []fault {
	s := &scheduler{
		mix:   m,
		rng:   rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // It has to be the same for the same seed.
		shard: map[string]string{},
		count: map[kind]int{},

		created:  map[string]time.Duration{},
		sluggish: map[string]bool{},
		away:     map[string]time.Duration{},
	}

	for range m.workspaces {
		s.create(0)
	}

	for now := time.Second; now < m.lasts; now += s.between(200*time.Millisecond, 1500*time.Millisecond) {
		s.next(now)
	}

	// A fault that follows a late one is injected at once at the end.
	for i := range s.faults {
		s.faults[i].after = min(s.faults[i].after, s.lasts)
	}

	slices.SortStableFunc(s.faults, func(a, b fault) int { return int(a.after - b.after) })

	return s.faults
}

// next adds a fault of a random kind, unless there is nothing that it could happen to.
func (s *scheduler) next(now time.Duration) {
	switch k := s.kind(); k {
	case create:
		if len(s.names) < 2*s.workspaces {
			s.cutOff(s.create(now), now)
		}
	case remove:
		if 2*len(s.names) > s.workspaces {
			name := s.workspace()
			s.add(fault{after: now, kind: k, subject: name})
			s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
		}
	case relabel:
		s.relabel(s.oneOf(s.present(now)), now)
	case unlabel:
		s.unlabel(s.workspace(), now)
	case change:
		name := s.workspace()
		s.add(fault{after: now, kind: k, subject: name})
		s.follow(name, now)
	case replace:
		name := s.workspace()
		s.add(fault{after: now, kind: k, subject: name})
		s.cutOff(name, now)
	case kill, terminate, pause, drain:
		s.disturb(k, s.oneOf(s.shards()), now)
	case restart, outage:
		s.all(k, now)
	case hang, delay, refuse, oneWay:
		s.trouble(k, s.oneOf(s.shards()), now)
	case deleteLease, emptyLease, restoreLease:
		s.ofLease(k, s.oneOf(s.shards()), now)
	default:
		s.compose(k, now)
	}
}

// follow may add a fault that hits the work that was just begun on a Workspace.
func (s *scheduler) follow(name string, now time.Duration) {
	soon := now + s.between(300*time.Millisecond, 3*time.Second)
	kinds := []kind{relabel, relabel, relabel, kill, pause, hang, hang, oneWay, deleteLease, emptyLease, putBack, drain, drain}
	k := kinds[s.rng.IntN(len(kinds))]

	if !s.has(k) {
		return
	}

	switch k {
	case relabel:
		s.relabel(name, soon)
	case putBack:
		s.putBack(name, soon)
	case hang, oneWay:
		s.trouble(k, s.shard[name], soon)
	case deleteLease, emptyLease:
		s.ofLease(k, s.shard[name], soon)
	default:
		s.disturb(k, s.shard[name], soon)
	}
}

func (s *scheduler) create(now time.Duration) string {
	name := s.name("ws")

	// Most take a moment, some are slow, and some take longer than a Lease lasts.
	times := []time.Duration{0, 0, 2 * time.Second, 2 * time.Second, s.lease + 2*time.Second}
	takes, lingers := s.rng.IntN(len(times)), s.rng.IntN(len(times))
	t := traits{flavour: plain, lingers: times[lingers]}

	if s.rng.IntN(3) == 0 {
		t.sluggish, t.lingers = s.between(time.Second, s.lease), s.lease+2*time.Second
		s.sluggish[name] = true
	}

	s.names = append(s.names, name)
	s.shard[name] = s.oneOf(s.shards())
	s.add(fault{after: now, kind: create, subject: name, shard: s.shard[name], takes: times[takes], traits: t})

	return name
}

// name returns a new name.
func (s *scheduler) name(prefix string) string {
	s.born++

	return fmt.Sprintf("%s-%d", prefix, s.born)
}

// present returns the existing Workspaces, including the special ones.
func (s *scheduler) present(now time.Duration) []string {
	all := slices.Clone(s.names)

	for _, name := range s.special {
		if s.created[name] <= now {
			all = append(all, name)
		}
	}

	return all
}

// relabel gives the Workspace to another shard and, maybe, back.
func (s *scheduler) relabel(name string, now time.Duration) {
	old := s.shard[name]
	others := slices.DeleteFunc(s.shards(), func(shard string) bool { return shard == old || shard == "" })
	s.shard[name] = s.oneOf(others)
	s.add(fault{after: now, kind: relabel, subject: name, shard: s.shard[name]})

	if s.rng.IntN(5) < 2 && old != "" {
		s.shard[name] = old
		s.add(fault{after: now + s.between(50*time.Millisecond, 2*time.Second), kind: relabel, subject: name, shard: old})
	}
}

// unlabel moves the Workspace to the catch-all, if there is one.
func (s *scheduler) unlabel(name string, now time.Duration) {
	if len(s.instances[""]) > 0 && s.shard[name] != "" {
		s.shard[name] = ""
		s.add(fault{after: now, kind: unlabel, subject: name})
	}
}

// disturb makes an instance of the shard go away for a while, unless it is away.
func (s *scheduler) disturb(k kind, shard string, now time.Duration) {
	name := s.oneOf(s.instances[shard])
	takes := s.between(100*time.Millisecond, 2*s.lease)
	f := fault{after: now, kind: k, subject: name}

	switch k {
	case pause:
		// Durations from short enough to continue to far too long. The critical ones are
		// in between.
		takes = s.between(s.lease/2, 2*s.lease)
	case drain:
		takes = s.length()
		f.leader, f.drop, f.spareCLI = true, s.coin(), s.coin()
	default:
		// It is away for as long as a pod takes to start.
	}

	if s.away[name] < now {
		s.away[name] = now + takes
		f.takes = takes
		s.add(f)
	}
}

// trouble is with the network of an instance, mostly of the leader.
func (s *scheduler) trouble(k kind, shard string, now time.Duration) {
	name, takes := s.oneOf(s.instances[shard]), s.length()
	f := fault{after: now, kind: k, subject: name, takes: takes, leader: s.rng.IntN(4) > 0, drop: s.coin(), spareCLI: s.coin()}

	// One for each shard: the leader is not known yet.
	if key := "network of " + shard; s.away[key] <= now {
		s.away[key] = now + takes
		s.add(f)
	}
}

// cutOff is a fault after the beginning of an apply. A long apply is cut off, with the
// leader of the shard, until soon after the renew deadline: the leader then has to leave
// the Lease to the other replica, and not before the apply has ended.
func (s *scheduler) cutOff(name string, now time.Duration) {
	replicas, key := s.instances[s.shard[name]], "network of "+s.shard[name]
	at := now + s.between(1500*time.Millisecond, 4*time.Second)

	if !s.sluggish[name] || len(replicas) < 2 || !s.has(hang) || s.away[key] > at {
		s.follow(name, now)

		return
	}

	takes := s.renew + s.between(100*time.Millisecond, s.renew/2)
	s.away[key] = at + takes
	s.add(fault{
		after: at, kind: []kind{hang, hang, drain}[s.rng.IntN(3)], subject: s.oneOf(replicas), takes: takes,
		leader: true, drop: s.rng.IntN(4) > 0, spareCLI: s.rng.IntN(4) > 0,
	})
}

// length of a trouble. It is close to the renew deadline, the fence or the end of the
// Lease, on either side.
func (s *scheduler) length() time.Duration {
	switch s.rng.IntN(4) {
	case 0:
		return s.between(100*time.Millisecond, s.renew)
	case 1, 2:
		return s.between(s.renew, s.fenced)
	default:
		return s.between(s.fenced, 2*s.lease)
	}
}

// ofLease adds a fault of the Lease of a shard. A standby makes a difference.
func (s *scheduler) ofLease(k kind, shard string, now time.Duration) {
	f := fault{after: now, kind: k, subject: shard}

	if k == restoreLease {
		f.age = s.between(time.Second, 40*time.Second)
	}

	s.add(f)
}

// all is a fault that every instance notices. It takes some time until the API server is
// back, and the rest some more to do anything again.
func (s *scheduler) all(k kind, now time.Duration) {
	const every = 25 * time.Second

	if s.away[""] > now {
		return
	}

	s.away[""] = now + every

	if k == restart {
		s.add(fault{after: now, kind: k, takes: s.between(100*time.Millisecond, s.lease)})
	} else {
		s.add(fault{after: now, kind: k, takes: s.length(), drop: s.coin(), spareCLI: s.coin()})
	}
}

func (s *scheduler) add(f fault) { s.faults = append(s.faults, f) }

func (s *scheduler) workspace() string { return s.oneOf(s.names) }

func (s *scheduler) oneOf(choice []string) string { return choice[s.rng.IntN(len(choice))] }

func (s *scheduler) coin() bool { return s.rng.IntN(2) == 0 }

func (s *scheduler) kind() kind {
	n := 0
	for _, w := range s.kinds {
		n += w.weight
	}

	n = s.rng.IntN(n)

	for _, w := range s.kinds {
		if n -= w.weight; n < 0 {
			return w.kind
		}
	}

	return s.kinds[0].kind
}

func (s *scheduler) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rng.Int64N(int64(high-low)))
}
