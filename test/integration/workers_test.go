// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestWorkers applies as many Workspaces of a kind at the same time as there are workers:
// none of the applies ends before all of them have begun, so that together they take as
// long as one. The other kind has workers of its own and does not wait. One more Workspace waits, and an Event
// on it says so.
func TestWorkers(t *testing.T) {
	t.Parallel()

	const workers = 2

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withWorkers(workers))

	slow := map[workspace.Workspace]evidence{}

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "workers"))

		for range workers {
			e := newEvidence(t)
			slow[c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e))] = e
		}
	}

	for _, e := range slow {
		expectDone(t, e, "created")
	}

	last := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "last"))))
	expectEvent(t, c, last, "WaitingForApplySlot", "with 2 of a kind at a time")

	for ws, e := range slow {
		e.write(t, "gate", "")
		expectReady(t, c, ws)
	}

	expectReady(t, c, last)
}
