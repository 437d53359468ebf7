// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import "testing"

// TestWorkers has two Workspaces of one kind applied at the same time: neither ends
// before the other has begun. --max-reconcile-rate, which is more than one in all of
// these tests, says how many workers a kind has.
func TestWorkers(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "workers"))
		one, two := newEvidence(t), newEvidence(t)
		first := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", one))
		second := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", two))

		expectDone(t, one, "created")
		expectDone(t, two, "created")
		one.write(t, "gate", "")
		two.write(t, "gate", "")
		expectReady(t, c, first)
		expectReady(t, c, second)
	})
}
