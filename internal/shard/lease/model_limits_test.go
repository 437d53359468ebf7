// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// TestModelLimits shows the limits of the guarantees if a person deletes a Lease. An unsharded
// instance claims nothing: while it cannot make its Lease again, an instance that has just
// started may take its place. Shards are protected from that, see the worlds FreshShardDeleted
// and ShardDeleted.
func TestModelLimits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason    string
		world     string
		connected bool
		faults    faults
		want      string
	}{
		"FreshReplicaInAnOutage": {
			reason: "The holder cannot reach the API server while its Lease is deleted and a replica starts.",
			world:  "FreshDeleted",
			faults: faults{starts: 1, deletions: 1},
			want:   twoWriters,
		},
		"FreshReplicaWhilePaused": {
			reason:    "The holder is stopped while its Lease is deleted and a replica starts.",
			world:     "FreshDeleted",
			connected: true,
			faults:    faults{starts: 1, deletions: 1, pauses: 1},
			want:      twoWriters,
		},
		"FreshShard": {
			reason:    "A shard starts before the unsharded instance has made its Lease again.",
			world:     "UnshardedTampered",
			connected: true,
			faults:    faults{starts: 1, deletions: 1},
			want:      twoWriters,
		},
		"LongerUnseen": {
			reason: "A shard has not seen the longer duration of the Lease during an apply.",
			world:  "ApplyUnsharded",
			faults: faults{applies: 1, deletions: 1},
			want:   twoWriters,
		},
		"DeletedTwice": {
			reason: "A replica that is cut off between two deletions counts from the first one.",
			world:  "Tampered",
			faults: faults{deletions: 2},
			want:   twoWriters,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.faults, m.connected = tc.faults, tc.connected
			explore.Expect(t, tc.reason, m, tc.want)
		})
	}
}
