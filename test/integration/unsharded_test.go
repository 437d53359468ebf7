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
	t.Run("LeaderElection", testUnshardedWithLease)
	t.Run("NoLeaderElection", testUnshardedWithoutLease)
}

// testUnshardedWithLease expects what has always been: one Lease, and all
// Workspaces, whatever their labels are.
func testUnshardedWithLease(t *testing.T) {
	c := shared.unsharded.started(t)
	i := startInstance(t, c, withArgs("--leader-election"))

	expectLeaseHeld(t, c, i.namespace, leaseName)
	expectLeases(t, c, i.namespace, leaseName)
	expectMetric(t, i, `provider_terraform_shard_info{mode="unsharded",shard=""} 1`)
	expectServesAll(t, c, i)
}

// testUnshardedWithoutLease expects no leader election where nobody asked for it,
// and no namespace to be needed for it.
func testUnshardedWithoutLease(t *testing.T) {
	c := shared.unsharded.started(t)
	i := startInstance(t, c, withEnv("POD_NAMESPACE", ""))

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
	}
}
