// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// TestRelabel moves an idle Workspace to another shard.
func TestRelabel(t *testing.T) {
	t.Parallel()

	c, ns, one, a := useOpenTofu(t)
	_, _, two, b := useCommon(t, commonOtherTofu)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "relabel"))
	stays := c.createWorkspace(t, clusterScope, ns, inShard(one), polledOften, withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	moves := c.createWorkspace(t, clusterScope, ns, inShard(one), polledOften, withConfig(cfg), withEvidence(t, "evidence.tf", e))

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

	c, ns, one, _ := useOpenTofu(t)
	_, _, two, b := useCommon(t, commonOtherTofu)

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
