// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/spread"
)

// withAssigner makes a shard take part in the election of the assigner.
func withAssigner(name string) []instanceOption {
	return []instanceOption{withShard(name), withShortLease(), withArgs("--assign-shards", "--shard-grace-period=1s")}
}

// testElastic creates Workspaces without a label. Two shards share them, a third one joins, one
// is killed, and one is stopped. A label that was written by hand stays. The assigner sees every
// Workspace of the control plane without a label, so that other instances cannot run beside it.
func testElastic(t *testing.T, c *cluster) {
	t.Helper()

	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	start := func(name string) *instance { return startInstance(t, c, withAssigner(name)...) }
	a, b := start(one), start(two)

	expectLeaseHeld(t, c, leaseNamespace, leaseName+"-"+one)
	expectLeaseHeld(t, c, leaseNamespace, leaseName+"-"+two)

	l := newLease(leaseNamespace, leaseName+"-"+one)
	c.get(t, l)

	if diff := cmp.Diff(map[string]string{shardLabel: one}, l.GetLabels()); diff != "" {
		t.Errorf("labels of a Lease: -want, +got:\n%s", diff)
	}

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "elastic"))
	pinned := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))

	var (
		all   []workspace.Workspace
		files []evidence
	)

	for n := range 6 {
		s, config := namespacedScope, cfg
		if n == 0 {
			s, config = clusterScope, c.createConfig(t, clusterScope, ns, withBackend(ns, "elastic-cluster"))
		}

		e := newEvidence(t)
		all, files = append(all, c.createWorkspace(t, s, ns, withConfig(config), withEvidence(t, "evidence.tf", e))), append(files, e)
	}

	expectPlaced(t, c, all, pinned.GetLabels(), one, two)

	for _, ws := range append(slices.Clone(all), pinned) {
		expectReady(t, c, ws)
	}

	three := unique("shard")
	start(three)
	expectPlaced(t, c, all, pinned.GetLabels(), one, two, three)

	a.kill(t)
	expectPlaced(t, c, all, pinned.GetLabels(), two, three)

	b.stop(t)
	expectPlaced(t, c, all, pinned.GetLabels(), three)

	for i, ws := range all {
		c.request(t, ws)
		expectReady(t, c, ws)
		expectDone(t, files[i], "created")
	}

	c.get(t, pinned)

	if diff := cmp.Diff(map[string]string{shardLabel: one}, pinned.GetLabels()); diff != "" {
		t.Errorf("labels that were written by hand: -want, +got:\n%s", diff)
	}
}

// expectPlaced waits until the Workspaces are spread over the shards. A pinned one with the supplied labels
// counts, too, if there is one.
func expectPlaced(t *testing.T, c *cluster, all []workspace.Workspace, pinned map[string]string, shards ...string) {
	t.Helper()

	eventually(t, func() error {
		var labels []map[string]string
		if pinned != nil {
			labels = append(labels, pinned)
		}

		for _, ws := range all {
			c.get(t, ws)
			labels = append(labels, ws.GetLabels())
		}

		return spread.Check(shards, labels...)
	})
}
