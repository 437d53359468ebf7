// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
)

// TestOwnLock disconnects the backend when an apply is about to release its lock. The
// instance knows that the run is dead, and removes the lock.
func TestOwnLock(t *testing.T) {
	t.Parallel()

	const suffix = "own-lock"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/leases/lock-tfstate-")
	startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	o.expectFelt(t)
	o.end()

	// The next plan takes the lock although it does not need it, and finds the old
	// one.
	expectReady(t, c, ws)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectUnlocked(t, c, ws, ns, suffix)

	c.changeModule(t, ws, moduleFile(t, "gated.tf")+`output "more" { value = 1 }`)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`, "more": "1"})
	expectReady(t, c, ws)
	expectDone(t, e, "created")
}

// TestLeftLock moves a Workspace to another instance, and disconnects the backend when the
// apply of the first one is about to release its lock. The other instance
// learns that the lock has no holder, and removes it.
func TestLeftLock(t *testing.T) {
	t.Parallel()

	const suffix = "left-lock"

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/leases/lock-tfstate-")
	startInstance(t, c, withShard(one), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	c.relabel(t, ws, two)
	expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
	expectMetric(t, b, `provider_terraform_claims_waiting 1`)
	o.begin()
	e.write(t, "gate", "")
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
	expectDone(t, e, "created")
	expectMetric(t, b, `provider_terraform_claims_waiting 0`)
	expectMetric(t, b, `provider_terraform_handoff_duration_seconds_count{previous="released"} 1`)
	expectMetric(t, b, `provider_terraform_orphan_locks_removed_total 1`)
}
