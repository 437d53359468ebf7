// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
)

// testUnserved expects an event and a metric about Workspaces without an instance, until
// an instance serves them.
func testUnserved(t *testing.T, c *cluster) {
	t.Helper()

	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	a := startInstance(t, c, withNamespace(ns), withShard(one), withShortLease())

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "unserved"))
		text := withModule(moduleFile(t, "outputs.tf"))
		labelled := c.createWorkspace(t, s, ns, inShard(two), withConfig(cfg), text)
		unlabelled := c.createWorkspace(t, s, ns, withConfig(cfg), text)

		expectEvent(t, c, labelled, "NobodyServes", "--shard-name="+two)
		expectEvent(t, c, unlabelled, "NobodyServes", "--shard-catch-all")
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 1`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_catch_all"} 1`)
		expectUntouched(t, c, labelled)
		expectUntouched(t, c, unlabelled)

		b := startInstance(t, c, withNamespace(ns), withShard(two), withShortLease())
		rest := startInstance(t, c, withNamespace(ns), withArgs("--shard-catch-all"), withShortLease())

		expectReady(t, c, labelled)
		expectReady(t, c, unlabelled)
		// The one whose Lease has the first name counts.
		expectMetric(t, rest, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 0`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 0`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_catch_all"} 0`)

		c.remove(t, labelled)
		c.remove(t, unlabelled)
		expectGone(t, c, labelled)
		expectGone(t, c, unlabelled)
		b.stop(t)
		rest.stop(t)
	}
}
