// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"sync"
	"time"
)

// resync is how often the assigned Workspaces are listed although the members have not changed: a
// restored or copied manifest may have brought labels of other members.
const resync = 10 * time.Minute

// A membership is what the assigner knows about the shards.
type membership struct {
	mu      sync.RWMutex
	members Members

	// version counts the changes of the members.
	version int

	// balanced is when all assigned Workspaces were last known to be in their place, zero if that
	// was before the members changed.
	balanced time.Time
}

func (m *membership) get() Members {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return m.members
}

// set returns whether the members have changed.
func (m *membership) set(members Members) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.members.Equal(members) {
		return false
	}

	m.members, m.version, m.balanced = members, m.version+1, time.Time{}

	return true
}

// unbalanced returns the version of the members, and whether some Workspaces may not be in their
// place.
func (m *membership) unbalanced() (version int, due bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return m.version, m.balanced.IsZero() || time.Since(m.balanced) >= resync
}

// settle records that all Workspaces are in their place, unless the members have changed since the
// supplied version.
func (m *membership) settle(version int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if version == m.version {
		m.balanced = time.Now()
	}
}
