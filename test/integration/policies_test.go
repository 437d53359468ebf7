// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Sets of management policies that tests use.

func policyAll() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionAll}
}

func policyObserve() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionObserve}
}

func policyNoDelete() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
}

func policyNoUpdate() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete}
}

func policyNoCreate() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
}

func policyRefused() []xpv2.ManagementAction {
	return []xpv2.ManagementAction{xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
}

// createManaged creates a Workspace as newWorkspace makes it, with the supplied
// management policies.
func (c *cluster) createManaged(t *testing.T, s scope, namespace string, policies []xpv2.ManagementAction, opts ...workspaceOption) workspace.Workspace {
	t.Helper()

	ws := newWorkspace(s, namespace, opts...)
	ws.SetManagementPolicies(policies)
	c.create(t, ws)

	return ws
}

// changePolicies replaces the management policies of the Workspace.
func (c *cluster) changePolicies(t *testing.T, ws workspace.Workspace, policies []xpv2.ManagementAction) {
	t.Helper()
	c.patch(t, ws, map[string]any{"spec": map[string]any{"managementPolicies": policies}})
}

// TestManagementPolicies allows a Workspace some actions only.
func TestManagementPolicies(t *testing.T) {
	t.Parallel()

	const suffix = "policies"

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	first := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`output "first" { value = 1 }`))
	expectReady(t, c, first)
	expectEvent(t, c, first, "CreatedExternalResource", "Applied in ", ": only outputs changed: first")

	t.Run("NoDelete", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createManaged(t, namespacedScope, ns, policyNoDelete(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), onlyHere())
		expectReady(t, c, ws)

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectExists(t, c, stateSecret(ws, ns, suffix))
		expectRuns(t, i, ws, "init", "plan", "apply")
		expectDone(t, e, "created")
	})

	t.Run("NoUpdate", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createManaged(t, namespacedScope, ns, policyNoUpdate(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), onlyHere())
		expectReady(t, c, ws)

		c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
		expectCondition(t, c, ws, "Drifted", corev1.ConditionTrue, "only outputs change: greeting; not applied: spec.managementPolicies does not contain Update")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionTrue)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
		expectEvent(t, c, ws, "PlannedChanges", "not applied: spec.managementPolicies does not contain Update")
		expectRuns(t, i, ws, "init", "plan", "apply", "plan")

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
	})

	t.Run("NoCreate", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createManaged(t, namespacedScope, ns, policyNoCreate(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.managementPolicies")
		expectDone(t, e, []string{}...)

		c.changePolicies(t, ws, policyAll())
		expectReady(t, c, ws)
		expectDone(t, e, "created")
	})

	t.Run("ObserveNothing", func(t *testing.T) {
		t.Parallel()

		for _, policies := range [][]xpv2.ManagementAction{
			policyObserve(),
			{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize},
			{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete},
		} {
			e := newEvidence(t)
			ws := c.createManaged(t, namespacedScope, ns, policies, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "external resource does not exist", "spec.managementPolicies is [Observe", "add Create")
			expectDone(t, e, []string{}...)

			// No Terraform workspace is made for it, either.
			for _, run := range i.runs.of(string(ws.GetUID())) {
				if run != "init" && run != "plan" {
					t.Errorf("want only runs that observe, got run %q", run)
				}
			}

			c.remove(t, ws)
			expectGone(t, c, ws)
		}
	})

	t.Run("None", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), onlyHere())
		expectReady(t, c, ws)

		c.changePolicies(t, ws, []xpv2.ManagementAction{})
		c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		expectRuns(t, i, ws, "init", "plan", "apply")

		c.changePolicies(t, ws, policyAll())
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
	})

	t.Run("Unsupported", func(t *testing.T) {
		t.Parallel()

		ws := c.createManaged(t, namespacedScope, ns, policyRefused(), inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.managementPolicies")
		expectNotServedBy(t, i, ws)
	})
}

// TestOrphan deletes a Workspace whose deletion policy keeps its resources.
func TestOrphan(t *testing.T) {
	t.Parallel()

	const suffix = "orphan"

	c, ns, shard, i := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	c.patch(t, ws, map[string]any{"spec": map[string]any{"deletionPolicy": "Orphan"}})
	c.remove(t, ws)
	expectGone(t, c, ws)
	expectExists(t, c, stateSecret(ws, ns, suffix))
	expectDone(t, e, "created")

	for _, run := range i.runs.of(string(ws.GetUID())) {
		if run == "destroy" || run == "workspace delete" {
			t.Errorf("want nothing to be destroyed, got run %q", run)
		}
	}
}

// TestOrphanWithoutBackend keeps the infrastructure of a Workspace whose only state is in its
// working directory: the garbage collector must not delete this state.
func TestOrphanWithoutBackend(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), gcOften())

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createManaged(t, namespacedScope, ns, policyNoDelete(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	c.remove(t, ws)
	expectGone(t, c, ws)
	eventually(t, func() error {
		_, err := os.Stat(i.workdir(string(ws.GetUID())))
		if !os.IsNotExist(err) {
			return errors.Errorf("working directory: want it to be deleted, got error %v", err)
		}

		return nil
	})

	name := filepath.Join(".unsaved-states", string(ws.GetUID()), "terraform.tfstate.d", meta.GetExternalName(ws), "terraform.tfstate")

	state, err := os.ReadFile(filepath.Join(i.root, name))
	if err != nil || !bytes.Contains(state, []byte("terraform_data")) {
		t.Errorf("want the resources in %s, got error %v and %s", name, err, state)
	}

	expectDone(t, e, "created")
}

// TestOrphanWithPolicies deletes a Workspace whose deletion policy keeps its resources,
// while its management policies say to delete them: the latter win.
func TestOrphanWithPolicies(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "policies"))
	ws := c.createManaged(t, clusterScope, ns, append(policyNoDelete(), xpv2.ManagementActionDelete), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	c.patch(t, ws, map[string]any{"spec": map[string]any{"deletionPolicy": "Orphan"}})
	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// TestNoManagementPolicies turns management policies off. A Workspace that has policies
// reports an error, and no action runs that its policies exclude.
func TestNoManagementPolicies(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withArgs("--no-enable-management-policies"))

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	text := withModule(moduleFile(t, "outputs.tf"))

	limited := c.createManaged(t, clusterScope, ns, policyNoDelete(), inShard(shard), withConfig(cfg), text)
	expectCondition(t, c, limited, xpv2.TypeSynced, corev1.ConditionFalse, "spec.managementPolicies")
	expectNotServedBy(t, i, limited)

	normal := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), text)
	expectReady(t, c, normal)

	if diff := cmp.Diff(xpv2.ManagementPolicies(policyAll()), normal.GetManagementPolicies()); diff != "" {
		t.Errorf("default policies: -want, +got:\n%s", diff)
	}
}
