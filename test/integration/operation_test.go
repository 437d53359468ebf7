// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// takeover is the maximum time for a replica to take over from one that has stopped in an
// orderly way. It is well below the duration of a Lease: a replica waits for that if the
// other one did not release the Lease.
const takeover = 30 * time.Second

// TestStandby runs two replicas of one shard: one works, the other one is ready,
// and takes over at once when the first stops.
func TestStandby(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	leader := startInstance(t, c, withShard(shard))
	first := expectLeaseHeld(t, c, leaseNamespace, leaseName+"-"+shard)
	standby := startInstance(t, c, withShard(shard))

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "standby"))
	text := withModule(moduleFile(t, "outputs.tf"))
	before := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), text)
	expectReady(t, c, before)
	expectServedBy(t, leader, before)
	expectNotServedBy(t, standby, before)
	expectServing(t, standby, "/readyz")

	leader.stop(t)

	after := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), text)

	within(t, takeover, func() error {
		c.get(t, after)

		return isReady(after)
	})
	expectServedBy(t, standby, after)
	expectClaimed(t, c, before, leaseName+"-"+shard)
	c.annotate(t, before, requestedAt, "now")
	expectServedBy(t, standby, before)

	if second := expectLeaseHeld(t, c, leaseNamespace, leaseName+"-"+shard); second == first {
		t.Errorf("the Lease is still held by %q, which has stopped", first)
	}
}

// TestVersion reads the version of the program.
func TestVersion(t *testing.T) {
	t.Parallel()

	cmd := exec.CommandContext(t.Context(), shared.provider, "--version")
	cmd.Env = environment(t.TempDir())

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("--version: %v: %s", err, out)
	}

	if have := string(out); strings.Count(have, "\n") != 1 || !strings.HasPrefix(have, "provider-terraform ") {
		t.Errorf("--version: want one line that starts with the name of the provider, got %q", have)
	}
}

// TestLogs reads the log of an instance: every line is JSON and names the shard. It has the output of
// the CLI for one of two Workspaces.
func TestLogs(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withArgs("--log-encoding=json"))

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	module := withModule(`resource "terraform_data" "logged" {}`)
	loud := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), module,
		withParameters(func(p *commonv1beta1.ModuleParameters) { p.EnableTerraformCLILogging = true }))
	quiet := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), module)
	bad := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "invalid.tf")))
	expectReady(t, c, loud)
	expectReady(t, c, quiet)
	expectCondition(t, c, bad, "Synced", "False")
	i.stop(t)

	if have := saidFor(i, loud); !strings.Contains(have, "Apply complete! Resources: 1 added") {
		t.Errorf("want the output of the CLI for %q in the log, got %s", loud.GetName(), have)
	}

	if have := saidFor(i, quiet); strings.Contains(have, "Apply complete!") {
		t.Errorf("want nothing that the CLI printed for %q in the log, got %s", quiet.GetName(), have)
	}

	for line := range strings.Lines(i.output.String()) {
		entry := struct {
			Shard string `json:"shard"`
		}{}

		if err := decode(line, &entry); err != nil {
			t.Errorf("not JSON: %s", line)

			continue
		}

		if entry.Shard != shard {
			t.Errorf("want shard %q in log line %s", shard, line)
		}
	}
}

// saidFor returns the messages in the log of the instance that are about the
// Workspace.
func saidFor(i *instance, ws workspace.Workspace) string {
	said := &strings.Builder{}

	for line := range strings.Lines(i.output.String()) {
		entry := struct {
			Message string `json:"msg"`
			UID     string `json:"uid"`
		}{}

		if err := decode(line, &entry); err == nil && entry.UID == string(ws.GetUID()) {
			said.WriteString(entry.Message + "\n")
		}
	}

	return said.String()
}
