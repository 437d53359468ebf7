// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
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

	// cancel ends the pass in progress.
	cancel context.CancelFunc

	// balanced is when all assigned Workspaces were last known to be in their place, zero if that
	// was before the members changed.
	balanced time.Time
}

func newMembership() *membership { return &membership{cancel: func() {}} }

func (m *membership) get() Members {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return m.members
}

// during calls fn with the members, which do not change meanwhile.
func (m *membership) during(fn func(Members) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()

	return fn(m.members)
}

// set returns whether the members have changed.
func (m *membership) set(members Members) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.members.Equal(members) {
		return false
	}

	m.members, m.balanced = members, time.Time{}
	m.cancel()

	return true
}

// pass returns a context that ends when the members change, and false if all Workspaces are known
// to be in their place.
func (m *membership) pass(ctx context.Context) (context.Context, context.CancelFunc, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if !m.balanced.IsZero() && time.Since(m.balanced) < resync {
		return nil, nil, false
	}

	ctx, m.cancel = context.WithCancel(ctx)

	return ctx, m.cancel, true
}

// settle records that all Workspaces are in their place, unless the members have changed since the
// pass with the supplied context began.
func (m *membership) settle(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if ctx.Err() == nil {
		m.balanced = time.Now()
	}
}
