// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
)

// TestUnsharded runs instances without a shard. Each serves every Workspace of
// its control plane, so there is one at a time.
func TestUnsharded(t *testing.T) {
	t.Parallel()
	t.Run("NextToShards", testUnshardedNextToShards)
	t.Run("Unserved", testUnserved)
	t.Run("Predecessor", testPredecessor)
	t.Run("Quiet", testQuiet)
	t.Run("LeaderElection", func(t *testing.T) { testUnshardedWithLease(t, "--leader-election") })
	t.Run("InCluster", func(t *testing.T) { testUnshardedWithLease(t) })
	t.Run("NoLeaderElection", func(t *testing.T) { testUnshardedWithoutLease(t, withArgs("--no-leader-election")) })
	t.Run("NoNamespace", func(t *testing.T) { testUnshardedWithoutLease(t, withEnv("POD_NAMESPACE", "")) })
}

// testUnshardedWithLease expects what has always been: one Lease, and all
// Workspaces, whatever their labels are. It claims none of them.
func testUnshardedWithLease(t *testing.T, args ...string) {
	t.Helper()

	c := shared.unsharded.started(t)
	i := startInstance(t, c, withNamespace(c.namespace(t)), withArgs(args...))

	expectLeaseHeld(t, c, i.namespace, leaseName)
	expectLeases(t, c, i.namespace, leaseName)
	expectMetric(t, i, `provider_terraform_shard_info{mode="unsharded",shard=""} 1`)
	expectServesAll(t, c, i)
}

// testUnshardedWithoutLease expects no leader election where nobody wants it, or
// where it is not known in which namespace.
func testUnshardedWithoutLease(t *testing.T, opt instanceOption) {
	t.Helper()

	c := shared.unsharded.started(t)
	i := startInstance(t, c, withNamespace(c.namespace(t)), opt)

	expectServesAll(t, c, i)
	expectLeases(t, c, i.namespace)
}

func expectServesAll(t *testing.T, c *cluster, i *instance) {
	t.Helper()

	ns := c.namespace(t)

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "unsharded"))
		text := withModule(moduleFile(t, "outputs.tf"))
		unlabelled := c.createWorkspace(t, s, ns, withConfig(cfg), text)
		labelled := c.createWorkspace(t, s, ns, inShard("shard-0"), withConfig(cfg), text)

		expectReady(t, c, unlabelled)
		expectReady(t, c, labelled)
		expectServedBy(t, i, unlabelled)
		expectServedBy(t, i, labelled)
		expectUnclaimed(t, c, unlabelled)
	}
}

// testPredecessor kills an unsharded instance in the middle of an apply. The next one,
// on the same host, takes its Lease and knows whose lock it finds.
func testPredecessor(t *testing.T) {
	t.Helper()

	c := shared.unsharded.started(t)
	ns := c.namespace(t)
	a := startInstance(t, c, withNamespace(ns), withShortLease())

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "predecessor"))
	ws := c.createWorkspace(t, namespacedScope, ns, withConfig(cfg), withEvidence(t, "gated.tf", e))
	expectDone(t, e, "created")
	a.kill(t)

	b := startInstance(t, c, withNamespace(ns), withShortLease())
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectUnlocked(t, c, ws, ns, "predecessor")
}
