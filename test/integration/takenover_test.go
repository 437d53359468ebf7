// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The condition and the annotation are part of the interface: they must never change.
const (
	stateTakenOver       = "StateTakenOver"
	acceptTakenOverState = "terraform.crossplane.io/accept-taken-over-state"
)

// acceptTakenOver accepts that the Workspace destroys what it took over.
func (c *cluster) acceptTakenOver(t *testing.T, ws workspace.Workspace) {
	t.Helper()
	c.annotate(t, ws, acceptTakenOverState, expectRemembered(t, c, ws))
}

// TestTakenOver has two tenants whose Workspaces have the same name and the same ClusterProviderConfig. The one
// that was refused takes over what the other one leaves, and destroys it only if a person accepts that.
func TestTakenOver(t *testing.T) {
	t.Parallel()

	const suffix = "taken-over"

	eachCLI(t, func(t *testing.T, cli string) {
		c, one, shard, _ := useCommon(t, cli)
		two := c.namespace(t)

		cfg := newClusterConfig(withBackend(one, suffix))
		c.create(t, cfg)

		e := newEvidence(t)
		first := c.createManaged(t, namespacedScope, one, policyNoDelete(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, first)

		theirs := []workspaceOption{inShard(shard), withConfig(cfg), withModule(replacing(t, 1)), withVar("dir", string(e))}
		second := newTwin(first, two, theirs...)
		c.create(t, second)
		expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, "belongs to")

		c.remove(t, first)
		expectGone(t, c, first)

		c.annotate(t, second, requestedAt, "first")
		expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would destroy 1 resource (terraform_data.evidence)", acceptTakenOverState+"=")

		lineage := expectRemembered(t, c, second)
		expectCondition(t, c, second, stateTakenOver, corev1.ConditionTrue, lineage, "1 resource")
		expectEvent(t, c, second, "TookOverState", lineage, "1 resource")

		c.remove(t, second)
		expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, "the deletion would destroy 1 resource", "set spec.managementPolicies to", acceptTakenOverState+"="+lineage)

		c.changePolicies(t, second, policyNoDelete())
		expectGone(t, c, second)
		expectExists(t, c, stateSecret(first, one, suffix))
		expectDone(t, e, "created")

		third := newTwin(first, two, theirs...)
		c.create(t, third)
		expectCondition(t, c, third, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would destroy 1 resource")
		expectCondition(t, c, third, xpv2.TypeReady, corev1.ConditionFalse, "The plan was not applied: see Synced")
		expectDone(t, e, "created")

		c.acceptTakenOver(t, third)
		expectReady(t, c, third)
		expectReason(t, c, third, stateTakenOver, "Accepted")
		expectDone(t, e, "created", "destroyed", "created")

		c.remove(t, third)
		expectGone(t, c, third)
		expectDone(t, e, "created", "destroyed", "created", "destroyed")
	})
}

// TestTwoClusters has a Workspace that finds the living state of a Workspace in another cluster, of which this
// cluster has no trace.
func TestTwoClusters(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, _ := useCommon(t, cli)

		server := httptest.NewServer(&stateServer{})
		defer server.Close()

		cfg := c.createConfig(t, namespacedScope, ns, withHTTPBackend(server.URL))

		create := func(opts ...workspaceOption) workspace.Workspace {
			ws := newWorkspace(namespacedScope, ns, append(opts, inShard(shard), withConfig(cfg))...)
			meta.SetExternalName(ws, "default")
			c.create(t, ws)

			return ws
		}

		e := newEvidence(t)
		elsewhere := create(withEvidence(t, "evidence.tf", e))
		expectReady(t, c, elsewhere)

		c.annotate(t, elsewhere, meta.AnnotationKeyReconciliationPaused, "true")
		expectReason(t, c, elsewhere, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		// The finalizer would be added again before the deletion.
		c.remove(t, elsewhere)
		c.patch(t, elsewhere, map[string]any{"metadata": map[string]any{"finalizers": nil}})
		expectGone(t, c, elsewhere)

		// The module is the same, so that nothing is to be done.
		ws := create(withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		expectCondition(t, c, ws, stateTakenOver, corev1.ConditionTrue, expectRemembered(t, c, ws))

		// An edit is not enough to destroy what the other cluster uses.
		c.changeModule(t, ws, replacing(t, 1))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would destroy 1 resource (terraform_data.evidence)")
		expectDone(t, e, "created")

		// One that destroys nothing is applied. Then the Workspace is like any other.
		c.changeModule(t, ws, moduleFile(t, "evidence.tf")+`output "more" { value = 1 }`)
		expectReady(t, c, ws)
		expectReason(t, c, ws, stateTakenOver, "Applied")

		c.changeModule(t, ws, replacing(t, 1))
		expectDone(t, e, "created", "destroyed", "created")
	})
}
