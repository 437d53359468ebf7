// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

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
	expectNoClaim(t, c, ws)
	expectReady(t, c, c.createWorkspace(t, namespacedScope, ns, inShard(two), withConfig(cfg), withModule(moduleFile(t, "outputs.tf"))))
	expectIdle(t, b, namespacedScope)

	if runs := b.runs.of(string(ws.GetUID())); len(runs) > 0 {
		t.Errorf("the new shard ran the CLI, though nothing was to be done: %q", runs)
	}

	c.changeModule(t, ws, `output "owner" { value = "two" }`)
	expectOutputs(t, c, ws, map[string]string{"owner": `"two"`})
	expectServedBy(t, b, ws)
}
