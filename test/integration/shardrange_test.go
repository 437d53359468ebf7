// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// testShardRange runs an instance for each half of the hashes, on an API server that selects by
// ranges. Each gets its half of the Workspaces without a label, and no other.
func testShardRange(t *testing.T, c *cluster) {
	t.Helper()

	ns := c.namespace(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "range"))
	create := func() workspace.Workspace {
		return c.createWorkspace(t, namespacedScope, ns, withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	}

	// Some exist at the first list, and some are watched.
	all := []workspace.Workspace{create(), create(), create(), create()}
	one := startInstance(t, c, withArgs("--shard-range=0/2"), withShortLease())
	// The range can come from the environment as well.
	two := startInstance(t, c, withEnv("SHARD_RANGE", "1/2"), withShortLease())

	all = append(all, create(), create(), create(), create())
	pinned := c.createWorkspace(t, namespacedScope, ns, inShard("other"), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))

	counts := expectInRanges(t, c, all)
	for i, instance := range []*instance{one, two} {
		expectMetric(t, instance, fmt.Sprintf(`crossplane_managed_resource_exists{gvk="tf.m.upbound.io/v1beta1, Kind=Workspace"} %d`, counts[i]))
		expectMetric(t, instance, `provider_terraform_shard_info{mode="range",shard="`+strconv.Itoa(i)+`/2"} 1`)
	}

	// A range is added: an instance of the old number has its Workspaces until it ends.
	startInstance(t, c, withArgs("--shard-range=0/1"), withShortLease())
	two.stop(t)

	for _, ws := range all {
		if half(t, 1).Serves(nil, ws.GetUID()) {
			expectClaimed(t, c, ws, leaseName+".range-0-of-1")
		} else {
			expectClaimed(t, c, ws, leaseName+".range-0-of-2")
		}
	}

	expectUntouched(t, c, pinned)
}

// expectInRanges waits until each Workspace is Ready and claimed by the instance of its half, and
// returns how many there are in each.
func expectInRanges(t *testing.T, c *cluster, all []workspace.Workspace) [2]int {
	t.Helper()

	counts := [2]int{}

	for _, ws := range all {
		expectReady(t, c, ws)

		for i := range counts {
			if half(t, i).Serves(nil, ws.GetUID()) {
				expectClaimed(t, c, ws, fmt.Sprintf("%s.range-%d-of-2", leaseName, i))
				counts[i]++
			}
		}
	}

	return counts
}

func half(t *testing.T, i int) shard.ID {
	t.Helper()

	id, err := shard.ParseRange(fmt.Sprintf("%d/2", i))
	if err != nil {
		t.Fatal(err)
	}

	return id
}

// TestShardRangeIgnored starts an instance of a range on an API server that ignores the selector.
func TestShardRangeIgnored(t *testing.T) {
	t.Parallel()

	out, err := runProvider(t, shared.sharded.started(t), t.TempDir(), "--shard-range=0/2", "--cli="+shared.tofu())
	if err == nil {
		t.Error("want it to end with an error")
	}

	for _, text := range []string{"--shard-range", `"0/2"`, "ShardedListAndWatch", "--assign-shards"} {
		if !strings.Contains(out, text) {
			t.Errorf("want %q in the output, got:\n%s", text, out)
		}
	}
}
