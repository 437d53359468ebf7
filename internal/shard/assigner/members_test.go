// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestMembers follows two shards through their life.
func TestMembers(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	both := []string{"a", "b"}

	steps := []struct {
		reason  string
		after   time.Duration
		shards  map[string]bool
		members []string
		gone    map[string]time.Duration
	}{
		{reason: "Both have an instance.", shards: map[string]bool{"a": true, "b": true}, members: both},
		{reason: "One is restarted.", after: time.Second, shards: map[string]bool{"a": true, "b": false}, members: both},
		{reason: "The restart takes long.", after: 60 * time.Second, shards: map[string]bool{"a": true, "b": false}, members: both},
		{reason: "It is back.", after: time.Second, shards: map[string]bool{"a": true, "b": true}, members: both},
		{reason: "It is away again: the grace period begins again.", after: time.Second, shards: map[string]bool{"a": true, "b": false}, members: both},
		{reason: "It was away for the grace period.", after: 61 * time.Second, shards: map[string]bool{"a": true, "b": false}, members: []string{"a"}, gone: map[string]time.Duration{"b": 61 * time.Second}},
		{reason: "Its Lease is deleted.", after: time.Second, shards: map[string]bool{"a": true}, members: []string{"a"}},
		{reason: "It comes back after that.", after: time.Second, shards: map[string]bool{"a": true, "b": true}, members: both},
		{reason: "All are away, as after an outage.", after: time.Second, shards: map[string]bool{"a": false, "b": false}, members: both},
		{reason: "All are gone.", after: time.Hour, shards: map[string]bool{"a": false, "b": false}, gone: map[string]time.Duration{"a": time.Hour, "b": time.Hour}},
		{reason: "There are none.", after: time.Hour},
	}

	m, now := NewMembers(61*time.Second), start

	// These are no subtests: each step depends on the one before.
	for _, s := range steps {
		now = now.Add(s.after)

		members, gone := m.Update(s.shards, now)
		if diff := cmp.Diff(s.members, members); diff != "" {
			t.Errorf("%s\nmembers: -want, +got:\n%s", s.reason, diff)
		}

		if diff := cmp.Diff(s.gone, gone, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s\ngone: -want, +got:\n%s", s.reason, diff)
		}
	}
}
