// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// TestRelabel moves an idle Workspace to another shard.
func TestRelabel(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	a := startInstance(t, c, withShard(one), withTerraform(), withPoll(pollOften))
	b := startInstance(t, c, withShard(two), withTerraform(), withPoll(pollOften))

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "relabel"))
	stays := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	moves := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "evidence.tf", e))

	expectReady(t, c, stays)
	expectReady(t, c, moves)
	expectServedBy(t, a, moves)

	c.relabel(t, moves, two)
	expectServedBy(t, b, moves)
	expectAnotherRun(t, b, moves, "plan")
	expectReady(t, c, moves)

	// The old shard has seen the relabel by now, because the new one has. Polls of the old
	// one that were due already may still have happened.
	before := len(a.runs.of(string(moves.GetUID())))

	expectAnotherRun(t, a, stays, "plan")
	expectAnotherRun(t, a, stays, "plan")

	if after := len(a.runs.of(string(moves.GetUID()))); after != before {
		t.Errorf("the old shard ran the CLI %d times after the Workspace had left", after-before)
	}

	c.changeModule(t, moves, moduleFile(t, "evidence.tf")+`
output "owner" {
  value = "two"
}
`)
	expectOutputs(t, c, moves, map[string]string{"greeting": `"hello"`, "owner": `"two"`})
	expectDone(t, e, "created")

	c.remove(t, moves)
	expectGone(t, c, moves)
	expectDone(t, e, "created", "destroyed")
}

// TestRelabelReady moves a Workspace that is up to date, and whose next poll is far away.
// The new shard trusts the status: when the number of shards changes, a great part of all
// Workspaces moves at once.
func TestRelabelReady(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	startInstance(t, c, withShard(one))
	b := startInstance(t, c, withShard(two))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "ready"))
	ws := newWorkspace(namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyPollInterval: "1000h"})
	c.create(t, ws)
	expectReady(t, c, ws)

	c.relabel(t, ws, two)
	expectClaimed(t, c, ws, leaseName+"-"+two)
	expectReady(t, c, c.createWorkspace(t, namespacedScope, ns, inShard(two), withConfig(cfg), withModule(moduleFile(t, "outputs.tf"))))
	expectIdle(t, b, namespacedScope)

	if runs := b.runs.of(string(ws.GetUID())); len(runs) > 0 {
		t.Errorf("the new shard ran the CLI, though nothing was to be done: %q", runs)
	}

	c.changeModule(t, ws, `output "owner" { value = "two" }`)
	expectOutputs(t, c, ws, map[string]string{"owner": `"two"`})
	expectServedBy(t, b, ws)
}

// TestRelabelDuringApply moves a Workspace to another shard while the old one creates its
// resources. The old shard finishes the apply and records it. Then the new one takes over
// the resources.
func TestRelabelDuringApply(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	a := startInstance(t, c, withShard(one), withTerraform())
	b := startInstance(t, c, withShard(two), withTerraform())

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "moving"))
	ws, e := c.createGated(t, clusterScope, ns, inShard(one), withConfig(cfg))
	expectServedBy(t, a, ws)

	// The new shard has its chance to interfere: it has served a Workspace that
	// came after.
	c.relabel(t, ws, two)
	later := c.createWorkspace(t, clusterScope, ns, inShard(two), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, later)
	e.write(t, "gate", "")

	eventually(t, func() error {
		c.get(t, ws)

		if meta.GetExternalCreateSucceeded(ws).IsZero() {
			return errors.Errorf("no record that the creation succeeded: annotations %q", ws.GetAnnotations())
		}

		return nil
	})
	// It was Ready when its creation ended: there is nothing to do before the next poll.
	expectReady(t, c, ws)
	c.request(t, ws)
	expectServedBy(t, b, ws)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
	expectDone(t, e, "created")

	if meta.ExternalCreateIncomplete(ws) {
		t.Errorf("the creation counts as incomplete: annotations %q", ws.GetAnnotations())
	}

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}
