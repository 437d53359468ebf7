// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestAdoption takes over a state without an owner: first only to observe it, and then to
// manage it.
func TestAdoption(t *testing.T) {
	t.Parallel()

	const suffix = "adoption"

	c, ns, shard, i := useOpenTofu(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}

	former := c.createManaged(t, namespacedScope, ns, policyNoDelete(), opts...)
	expectReady(t, c, former)
	c.remove(t, former)
	expectGone(t, c, former)

	state := stateSecret(former, ns, suffix)
	c.get(t, state)
	version := state.GetResourceVersion()

	// A Workspace with the policies Observe and LateInitialize only observes, and does not
	// claim the state.
	late := newWorkspace(namespacedScope, ns, opts...)
	late.SetManagementPolicies([]xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize})
	meta.SetExternalName(late, former.GetName())
	c.create(t, late)
	expectReady(t, c, late)
	expectOutputs(t, c, late, map[string]string{"greeting": `"hello"`})

	differs := newWorkspace(namespacedScope, ns, append(opts, withVar("greeting", "bye"))...)
	differs.SetManagementPolicies(policyObserve())
	meta.SetExternalName(differs, former.GetName())
	c.create(t, differs)
	expectCondition(t, c, differs, xpv2.TypeReady, corev1.ConditionFalse, "The plan has changes: see Drifted")

	secret := unique("connection")
	ws := newWorkspace(namespacedScope, ns, append(opts, withSecret(secret))...)
	ws.SetManagementPolicies(policyObserve())
	meta.SetExternalName(ws, former.GetName())
	c.create(t, ws)
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
	expectSecret(t, c, ns, secret, map[string]string{"greeting": "hello"})

	c.get(t, state)

	if state.GetResourceVersion() != version || slices.Contains(i.runs.of(string(ws.GetUID())), "apply") {
		t.Errorf("a Workspace that may only observe changed the state: runs %q", i.runs.of(string(ws.GetUID())))
	}

	if sum := ws.GetObservation().Checksum; sum != "" {
		t.Errorf("a Workspace that may only observe has the mark of an owner: checksum %q", sum)
	}

	c.changePolicies(t, ws, policyAll())
	c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
	expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
	expectReady(t, c, ws)
	expectDone(t, e, "created")

	if ws.GetObservation().Checksum == "" {
		t.Error("a Workspace that took over a state does not own it: it has no checksum")
	}

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
	expectGone(t, c, state)
}

// TestImportBlock imports an existing resource into the state of a new Workspace.
func TestImportBlock(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "imported"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
import {
  to = terraform_data.found
  id = "there-before"
}

resource "terraform_data" "found" {}

output "id" {
  value = terraform_data.found.id
}
`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"id": `"there-before"`})
	expectEvent(t, c, ws, "CreatedExternalResource", "import terraform_data.found")

	c.changeModule(t, ws, `
moved {
  from = terraform_data.found
  to   = terraform_data.kept
}

resource "terraform_data" "kept" {}

output "id" {
  value = terraform_data.kept.id
}
`)
	expectEvent(t, c, ws, "UpdatedExternalResource", "0 added, 0 changed, 0 destroyed: move terraform_data.kept")
}
