// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"
	"time"
)

// Namespaces of Workspaces that have the same name.
const (
	namespaceX = "chaos-x"
	namespaceY = "chaos-y"
)

// Maximum numbers of Workspaces by kind: each costs some runs of the CLI, and failing ones
// are never removed.
const (
	maxOnDisk = 6
	maxLeaky  = 10
)

// compose adds sequences of Workspace faults that need more than one fault.
func (s *scheduler) compose(k kind, now time.Duration) {
	switch k {
	case putBack:
		s.putBack(s.oneOf(s.present(now)), now)
	case restore:
		s.restore(now)
	case copying:
		s.copy(now)
	case twins:
		s.twins(now)
	case cousins:
		s.cousins(now)
	case fail:
		name := s.workspace()
		s.add(fault{after: now, kind: fail, subject: name})
		s.add(fault{after: now + s.between(3*time.Second, 10*time.Second), kind: change, subject: name})
	case lose:
		s.lose(now)
	case leak:
		s.leak(now)
	default:
		// All others are single faults.
	}
}

// putBack replaces a Workspace by an earlier version of it, mostly with the annotations of
// that version, and sometimes with another shard.
func (s *scheduler) putBack(name string, now time.Duration) {
	f := fault{after: now, kind: putBack, subject: name, age: s.between(time.Second, 40*time.Second), bare: s.rng.IntN(3) == 0}

	if s.coin() {
		f.shard = s.oneOf(s.named())
		s.shard[name] = f.shard
	}

	s.add(f)
}

// restore deletes a Workspace and creates it again. Other faults skip it until then.
func (s *scheduler) restore(now time.Duration) {
	const every = 25 * time.Second

	if s.away["restore"] <= now {
		s.away["restore"] = now + every
		s.add(fault{after: now, kind: restore, subject: s.workspace(), orphan: s.coin()})
	}
}

// copy a Workspace, and mostly delete the copy later.
func (s *scheduler) copy(now time.Duration) {
	of, name := s.workspace(), s.name("copy")
	s.special, s.created[name] = append(s.special, name), now
	s.shard[name] = s.oneOf(s.named())
	s.add(fault{after: now, kind: copying, subject: name, shard: s.shard[name], traits: traits{of: of}})

	if s.rng.IntN(4) > 0 {
		s.removeSpecial(name, now+s.between(4*time.Second, 20*time.Second))
	}
}

// twins are two Workspaces of one name that use one state, although the texts of their
// configurations do not show it. Mostly the second one is deleted later.
func (s *scheduler) twins(now time.Duration) {
	flavours := []flavour{plain, comment, region, newline}
	s.rng.Shuffle(len(flavours), func(i, j int) { flavours[i], flavours[j] = flavours[j], flavours[i] })

	first, second := s.pair(twins, now, now+s.between(0, 8*time.Second), fault{traits: traits{flavour: flavours[0]}}, fault{traits: traits{flavour: flavours[1], number: s.rng.IntN(2)}})

	if s.rng.IntN(4) > 0 {
		s.removeSpecial(second, now+s.between(12*time.Second, 25*time.Second))
	}

	if s.rng.IntN(3) == 0 {
		s.removeSpecial(first, now+s.between(15*time.Second, 30*time.Second))
	}
}

// cousins are two Workspaces of one name and with one configuration that use two states.
// The apply of the second one fails halfway. Then it is deleted, or mended.
func (s *scheduler) cousins(now time.Duration) {
	flavours := [][]flavour{{envX, envY}, {suffixX, suffixY}}[s.rng.IntN(2)]
	later := now + s.between(3*time.Second, 8*time.Second)

	first, second := s.pair(cousins, now, later, fault{traits: traits{flavour: flavours[0]}}, fault{traits: traits{flavour: flavours[1], fails: s.rng.IntN(4) > 0}})

	if s.rng.IntN(3) > 0 {
		s.removeSpecial(second, later+s.between(4*time.Second, 12*time.Second))
	} else {
		s.add(fault{after: later + s.between(4*time.Second, 12*time.Second), kind: change, subject: second})
	}

	if s.coin() {
		s.removeSpecial(first, later+s.between(15*time.Second, 25*time.Second))
	}
}

// pair creates two Workspaces of one name in two namespaces.
func (s *scheduler) pair(k kind, now, later time.Duration, first, second fault) (string, string) {
	name := s.name(string(k))
	first.after, first.kind, first.subject, first.namespace = now, create, name+"/x", namespaceX
	second.after, second.kind, second.subject, second.namespace = later, create, name+"/y", namespaceY

	for _, f := range []fault{first, second} {
		f.shard = s.oneOf(s.named())
		s.special, s.created[f.subject] = append(s.special, f.subject), f.after
		s.shard[f.subject] = f.shard
		s.add(f)
	}

	s.count[k]++

	return first.subject, second.subject
}

func (s *scheduler) removeSpecial(name string, at time.Duration) {
	s.add(fault{after: at, kind: remove, subject: name})
	s.special = slices.DeleteFunc(s.special, func(n string) bool { return n == name })
}

// lose the disk of a Workspace without a backend: in the middle of its first apply, or
// later.
func (s *scheduler) lose(now time.Duration) {
	if s.disk == "" || s.count[lose] == maxOnDisk || s.away[s.disk] >= now {
		return
	}

	s.count[lose]++
	name := s.name("disk")
	at := now + s.between(1500*time.Millisecond, 5*time.Second)

	if s.rng.IntN(3) == 0 {
		at += s.between(5*time.Second, 15*time.Second)
	}

	takes := s.between(500*time.Millisecond, s.lease)
	s.away[s.disk] = at + takes
	s.shard[name] = s.disk
	s.add(fault{after: now, kind: create, subject: name, shard: s.disk, traits: traits{flavour: noBackend, lingers: 5 * time.Second}})
	s.add(fault{after: at, kind: lose, subject: name, shard: s.disk, takes: takes})
}

// leak creates a Workspace that fails and prints a secret.
func (s *scheduler) leak(now time.Duration) {
	if s.count[leak] == maxLeaky {
		return
	}

	name := s.name("leak")
	s.shard[name] = s.oneOf(s.shards())
	s.add(fault{after: now, kind: create, subject: name, shard: s.shard[name], traits: traits{flavour: leaky, number: s.count[leak] + s.rng.IntN(2)*len(printers())}})
	s.count[leak]++
}

// named returns the shards that have a name.
func (s *scheduler) named() []string {
	return slices.DeleteFunc(s.shards(), func(shard string) bool { return shard == "" })
}
