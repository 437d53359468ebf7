// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/explore"
)

// TestModelLimits shows the limits of the guarantees: a person who writes the status of a
// Workspace can break them.
func TestModelLimits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		world  string
		faults faults
		want   string
	}{
		"ErasedAndRelabelled": {
			reason: "Only the claim tells another shard that a run is in progress.",
			world:  "Status",
			faults: faults{relabels: 1, erasures: 1},
			want:   twoWorkers,
		},
		"RestoredAndRelabelled": {
			reason: "An old claim of the other shard makes the Workspace look like its own.",
			world:  "Status",
			faults: faults{relabels: 1, restores: 1},
			want:   twoWorkers,
		},
		"Restored": {
			reason: "An instance does not see Workspaces that it does not serve, nor its claim on them. A warning tells people.",
			world:  "Restored",
			faults: faults{restores: 1},
			want:   stuck,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := worlds()[tc.world]
			m.faults, m.liveBackups = tc.faults, true
			explore.Expect(t, tc.reason, m, tc.want)
		})
	}
}
