// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"maps"
	"slices"
	"time"
)

// Members are the shards that Workspaces are assigned to. A shard stays a member for a grace
// period after it has released its Lease or let it expire, so that a restart moves nothing.
//
// An assigner that takes over does not know for how long a shard has been away: the grace period
// of each begins again.
type Members struct {
	grace time.Duration

	// away are the times at which members were first seen without an instance.
	away map[string]time.Time
}

// NewMembers returns Members with a grace period.
func NewMembers(grace time.Duration) *Members {
	return &Members{grace: grace, away: map[string]time.Time{}}
}

// Update returns the names of the members, in order, and for how long the other shards have been
// away. shards are those that have a Lease, by their name, and whether an instance holds it now.
func (m *Members) Update(shards map[string]bool, now time.Time) (members []string, gone map[string]time.Duration) {
	gone = map[string]time.Duration{}

	maps.DeleteFunc(m.away, func(name string, _ time.Time) bool {
		held, known := shards[name]

		return held || !known
	})

	for _, name := range slices.Sorted(maps.Keys(shards)) {
		if held := shards[name]; held {
			members = append(members, name)

			continue
		}

		since, ok := m.away[name]
		if !ok {
			since = now
			m.away[name] = now
		}

		// The elapsed time counts, not the time of day: a time in the future must not make a shard
		// a member for longer.
		if passed := now.Sub(since); passed >= 0 && passed < m.grace {
			members = append(members, name)
		} else {
			gone[name] = passed
		}
	}

	return members, gone
}
