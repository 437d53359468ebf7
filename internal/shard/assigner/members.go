// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
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

// A roster follows the shards. A shard without an instance stays a member for a grace period, so
// that a restart moves nothing.
type roster struct {
	grace time.Duration

	// last is when each shard was last known to have an instance, or was first seen.
	last map[string]time.Time
}

// newRoster returns a roster with a grace period.
func newRoster(grace time.Duration) *roster {
	return &roster{grace: grace, last: map[string]time.Time{}}
}

// Update returns the members. shards are those that have the Lease of a session.
func (r *roster) Update(shards map[string]session.Presence, now time.Time) (m Members) {
	for name, p := range shards {
		if _, known := r.last[name]; p.Alive || !known {
			r.last[name] = now
		}
	}

	for _, name := range slices.Sorted(maps.Keys(r.last)) {
		p, there := shards[name]

		switch {
		case p.Alive && p.Renewed:
			m.Here = append(m.Here, name)
		case p.Alive, now.Sub(r.last[name]) < r.grace:
			m.Away = append(m.Away, name)
		case !there:
			delete(r.last, name)
		}
	}

	return m
}

// A membership is what the assigner knows about the shards.
type membership struct {
	// mu is held for reading during each write of labels, see assign. Only a change of the members and a
	// list of all Workspaces wait for these writes.
	mu sync.RWMutex

	// version counts the changes of the members.
	version int

	// placement is that of the last list and of the writes since. placing guards it while mu is held for
	// reading.
	placing   sync.Mutex
	placement *placement

	// listed is closed after the first list, or the first attempt. Before that, the numbers of Workspaces
	// are unknown.
	listed chan struct{}
}

func newMembership() *membership {
	return &membership{placement: newPlacement(Members{}, nil), listed: make(chan struct{})}
}

// get returns the members and their version.
func (m *membership) get() (Members, int) {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return m.placement.members, m.version
}

// set returns whether the members have changed. If not, it does not wait for the writes in progress: a
// waiting Lock stops new readers, and so all further writes of labels.
func (m *membership) set(members Members) bool {
	if current, _ := m.get(); current.Equal(members) {
		return false
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	m.placement.members = members
	m.version++

	return true
}

// place chooses the shard of a Workspace that has none, and counts it there. The caller holds mu for
// reading.
func (m *membership) place(uid types.UID) string {
	m.placing.Lock()
	defer m.placing.Unlock()

	return m.placement.place(uid)
}

// correct changes the number of Workspaces of a shard after a write that has failed. The caller holds mu
// for reading.
func (m *membership) correct(name string, n int) {
	m.placing.Lock()
	defer m.placing.Unlock()

	m.placement.counts[name] += n
}
