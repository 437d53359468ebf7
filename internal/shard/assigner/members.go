// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// Members are the names of the shards that Workspaces are assigned to, in order.
type Members struct {
	// Here are shards with an instance. Workspaces may move to them.
	Here []string

	// Away are shards that may come back. They keep their Workspaces, and get no others.
	Away []string
}

// All returns the names of all members, in order.
func (m Members) All() []string { return slices.Sorted(slices.Values(slices.Concat(m.Here, m.Away))) }

// Equal says whether both have the same members.
func (m Members) Equal(o Members) bool {
	return slices.Equal(m.Here, o.Here) && slices.Equal(m.Away, o.Away)
}

// A Roster follows the shards. A shard without an instance stays a member for a grace period, so
// that a restart moves nothing.
type Roster struct {
	grace time.Duration

	// last is when each shard was last known to have an instance, or was first seen.
	last map[string]time.Time
}

// NewRoster returns a Roster with a grace period.
func NewRoster(grace time.Duration) *Roster {
	return &Roster{grace: grace, last: map[string]time.Time{}}
}

// Update returns the members, and for how long the other shards have been away. shards are those
// that have a Lease.
func (r *Roster) Update(shards map[string]lease.Presence, now time.Time) (m Members, gone map[string]time.Duration) {
	gone = map[string]time.Duration{}

	for name, p := range shards {
		if _, known := r.last[name]; p.Alive || !known {
			r.last[name] = now
		}
	}

	for _, name := range slices.Sorted(maps.Keys(r.last)) {
		p, there := shards[name]
		away := now.Sub(r.last[name])

		switch {
		case p.Alive && p.Renewed:
			m.Here = append(m.Here, name)
		case p.Alive, away < r.grace:
			m.Away = append(m.Away, name)
		case there:
			gone[name] = away
		default:
			delete(r.last, name)
		}
	}

	return m, gone
}

// A membership is what the assigner knows about the shards.
type membership struct {
	// mu is held for reading during each write of labels, see assign. Only a change of the members waits
	// for these writes.
	mu      sync.RWMutex
	members Members

	// version counts the changes of the members.
	version int
}

// get returns the members and their version.
func (m *membership) get() (Members, int) {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return m.members, m.version
}

// set returns whether the members have changed. If not, it does not wait for the writes in progress: a
// waiting Lock stops new readers, and so all further writes of labels.
func (m *membership) set(members Members) bool {
	if current, _ := m.get(); current.Equal(members) {
		return false
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	m.members = members
	m.version++

	return true
}
