// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// TestRoster follows two shards through their life.
func TestRoster(t *testing.T) {
	t.Parallel()

	const grace = 61 * time.Second

	here, stale, away := session.Presence{Alive: true, Renewed: true}, session.Presence{Alive: true}, session.Presence{}
	both := Members{Here: []string{"a", "b"}}
	one := Members{Here: []string{"a"}}
	kept := Members{Here: []string{"a"}, Away: []string{"b"}}

	steps := []struct {
		reason  string
		after   time.Duration
		shards  map[string]session.Presence
		members Members
	}{
		{reason: "One of them may have died long ago.", shards: map[string]session.Presence{"a": here, "b": stale}, members: kept},
		{reason: "It has renewed its Lease.", after: time.Second, shards: map[string]session.Presence{"a": here, "b": here}, members: both},
		{reason: "It is restarted.", after: time.Second, shards: map[string]session.Presence{"a": here, "b": away}, members: kept},
		{reason: "The restart takes long.", after: 59 * time.Second, shards: map[string]session.Presence{"a": here, "b": away}, members: kept},
		{reason: "It is back.", after: time.Second, shards: map[string]session.Presence{"a": here, "b": here}, members: both},
		{reason: "A person has deleted its Lease.", after: time.Second, shards: map[string]session.Presence{"a": here}, members: kept},
		{reason: "It has written it again.", after: time.Second, shards: map[string]session.Presence{"a": here, "b": here}, members: both},
		{reason: "It was away for the grace period.", after: grace, shards: map[string]session.Presence{"a": here, "b": away}, members: one},
		{reason: "Its Lease is deleted.", after: time.Second, shards: map[string]session.Presence{"a": here}, members: one},
		{reason: "It comes back after that.", after: time.Second, shards: map[string]session.Presence{"a": here, "b": here}, members: both},
		{reason: "All are away, as after an outage.", after: time.Second, shards: map[string]session.Presence{"a": away, "b": away}, members: Members{Away: []string{"a", "b"}}},
		{reason: "All are gone.", after: time.Hour, shards: map[string]session.Presence{"a": away, "b": away}},
		{reason: "There are none.", after: time.Hour},
		{reason: "The first one that is seen is without an instance.", shards: map[string]session.Presence{"c": away}, members: Members{Away: []string{"c"}}},
	}

	r, now := newRoster(grace), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	// These are no subtests: each step depends on the one before.
	for _, s := range steps {
		now = now.Add(s.after)

		if diff := cmp.Diff(s.members, r.Update(s.shards, now)); diff != "" {
			t.Errorf("%s\nmembers: -want, +got:\n%s", s.reason, diff)
		}
	}
}
