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

// A kind is a kind of fault: of things that happen to the system while it works.
type kind string

const (
	relabel   kind = "relabel"   // Give a Workspace to another shard.
	unlabel   kind = "unlabel"   // Take the label from a Workspace.
	change    kind = "change"    // Change an input of a Workspace: an update in place.
	replace   kind = "replace"   // Change one that makes it replace its resource.
	create    kind = "create"    // Create a Workspace.
	remove    kind = "remove"    // Delete a Workspace.
	kill      kind = "kill"      // SIGKILL an instance, and start it again later.
	terminate kind = "terminate" // SIGTERM an instance, and start it again later.
	pause     kind = "pause"     // SIGSTOP an instance, mostly for longer than a Lease lasts, and SIGCONT it.
	restart   kind = "restart"   // SIGKILL the API server, and start it again later.
)

// kinds returns all kinds, and how often each is to happen relative to the others.
func kinds() ([]kind, []int) {
	return []kind{relabel, unlabel, change, replace, create, remove, kill, terminate, pause, restart},
		[]int{20, 5, 10, 12, 8, 6, 7, 5, 7, 2}
}

// A fault is one thing to do.
type fault struct {
	// after the start of the test.
	after time.Duration

	kind kind

	// subject is the name of a Workspace or of an instance.
	subject string

	// shard that the Workspace is given to or created in, "" for none.
	shard string

	// takes is for how long an instance or the API server is away, and how long the
	// creation of a resource takes.
	takes time.Duration
}

func (f fault) String() string {
	s := string(f.kind) + " " + f.subject

	if f.kind == relabel || f.kind == create {
		s += fmt.Sprintf(" in shard %q", f.shard)
	}

	if f.takes > 0 {
		s += fmt.Sprintf(" (%s)", f.takes.Round(time.Millisecond))
	}

	return s
}

// A mix says what faults may happen to.
type mix struct {
	// lasts is for how long there are new faults.
	lasts time.Duration

	// lease is how long a Lease is good for.
	lease time.Duration

	// instances by the shard that they serve, "" for none: the catch-all.
	instances map[string][]string

	// workspaces is how many there are at the start, and about as many stay.
	workspaces int
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

	// shard of each Workspace there is, in the order of names.
	names []string
	shard map[string]string
	born  int

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
		away:  map[string]time.Duration{},
	}

	for range m.workspaces {
		s.create(0)
	}

	for now := time.Second; now < m.lasts; now += s.between(200*time.Millisecond, 1500*time.Millisecond) {
		s.next(now)
	}

	slices.SortStableFunc(s.faults, func(a, b fault) int { return int(a.after - b.after) })

	return s.faults
}

// next adds a fault of a random kind, unless there is nothing that it could happen to.
func (s *scheduler) next(now time.Duration) {
	switch k := s.kind(); k {
	case create:
		if len(s.names) < 2*s.workspaces {
			s.follow(s.create(now), now)
		}
	case remove:
		if 2*len(s.names) > s.workspaces {
			name := s.workspace()
			s.add(fault{after: now, kind: k, subject: name})
			s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == name })
		}
	case relabel:
		s.relabel(s.workspace(), now)
	case unlabel:
		s.unlabel(s.workspace(), now)
	case change, replace:
		name := s.workspace()
		s.add(fault{after: now, kind: k, subject: name})
		s.follow(name, now)
	case kill, terminate, pause:
		s.disturb(k, s.oneOf(s.shards()), now)
	case restart:
		s.restart(now)
	}
}

// follow may add a fault that hits the work that was just begun on a Workspace.
func (s *scheduler) follow(name string, now time.Duration) {
	soon := now + s.between(300*time.Millisecond, 3*time.Second)

	switch s.rng.IntN(6) {
	case 0, 1, 2:
		s.relabel(name, soon)
	case 3:
		s.disturb(kill, s.shard[name], soon)
	case 4:
		s.disturb(pause, s.shard[name], soon)
	}
}

func (s *scheduler) create(now time.Duration) string {
	s.born++
	name := fmt.Sprintf("ws-%d", s.born)

	// Most take a moment, some are slow, and some take longer than a Lease lasts.
	takes := []time.Duration{0, 0, 2 * time.Second, 2 * time.Second, s.lease + 2*time.Second}[s.rng.IntN(5)]

	s.names = append(s.names, name)
	s.shard[name] = s.oneOf(s.shards())
	s.add(fault{after: now, kind: create, subject: name, shard: s.shard[name], takes: takes})

	return name
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

// unlabel gives the Workspace to the catch-all, if there is one.
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

	if k == pause {
		// From short enough to go on to far too long: what matters is in between.
		takes = s.between(s.lease/2, 2*s.lease)
	}

	if s.away[name] < now {
		s.away[name] = now + takes
		s.add(fault{after: now, kind: k, subject: name, takes: takes})
	}
}

// restart makes the API server go away for a while. It takes some time to come back,
// and the rest some more to do anything again.
func (s *scheduler) restart(now time.Duration) {
	const every = 40 * time.Second

	if s.away[""] <= now {
		s.away[""] = now + every
		s.add(fault{after: now, kind: restart, takes: s.between(100*time.Millisecond, s.lease)})
	}
}

func (s *scheduler) add(f fault) { s.faults = append(s.faults, f) }

func (s *scheduler) workspace() string { return s.oneOf(s.names) }

func (s *scheduler) oneOf(choice []string) string { return choice[s.rng.IntN(len(choice))] }

func (s *scheduler) kind() kind {
	all, weights := kinds()
	n := 0

	for _, w := range weights {
		n += w
	}

	n = s.rng.IntN(n)

	for i, w := range weights {
		if n -= w; n < 0 {
			return all[i]
		}
	}

	return all[0]
}

func (s *scheduler) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rng.Int64N(int64(high-low)))
}
