// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
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

		impossible := c.createWorkspace(t, s, ns, withConfig(cfg), text)
		c.relabel(t, impossible, "A_x")

		expectEvent(t, c, labelled, "NobodyServes", "--shard-name="+two)
		expectEvent(t, c, unlabelled, "NobodyServes", "--shard-catch-all")
		expectEvent(t, c, impossible, "NobodyServes", `"A_x" is not a possible shard name; running shards: `+one)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 2`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_catch_all"} 1`)

		for _, ws := range []workspace.Workspace{labelled, unlabelled} {
			expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "no instance serves this Workspace")
			expectUntouched(t, c, ws)
			expectKstatus(t, ws, status.InProgressStatus, "A person has to start an instance.")
		}

		c.relabel(t, impossible, two)

		b := startInstance(t, c, withNamespace(ns), withShard(two), withShortLease())
		rest := startInstance(t, c, withNamespace(ns), withArgs("--shard-catch-all"), withShortLease())

		expectReady(t, c, labelled)
		expectReady(t, c, unlabelled)
		expectReady(t, c, impossible)
		// The one whose Lease has the first name counts.
		expectMetric(t, rest, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 0`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_live_shard"} 0`)
		expectMetric(t, a, `provider_terraform_workspaces_unserved{reason="no_catch_all"} 0`)

		for _, ws := range []workspace.Workspace{labelled, unlabelled, impossible} {
			c.remove(t, ws)
			expectGone(t, c, ws)
		}

		b.stop(t)
		rest.stop(t)
	}
}
