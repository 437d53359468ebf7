// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// newTwin returns a Workspace with the name of another one, in another namespace.
func newTwin(other workspace.Workspace, namespace string, opts ...workspaceOption) workspace.Workspace {
	ws := newWorkspace(namespacedScope, namespace, opts...)
	ws.SetName(other.GetName())

	return ws
}

// TestCollision gives two Workspaces the same state, by the same name in two
// namespaces. The state belongs to the first.
func TestCollision(t *testing.T) {
	t.Parallel()

	const suffix = "collision"

	c, one, shard, i := useTerraform(t)
	two := c.namespace(t)

	cfg := newClusterConfig(withBackend(one, suffix))
	c.create(t, cfg)

	t.Run("Observed", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}
		first := c.createWorkspace(t, namespacedScope, one, opts...)
		expectReady(t, c, first)

		// A Workspace that only observes does no harm.
		second := newTwin(first, two, opts...)
		second.SetManagementPolicies(policyObserve())
		c.create(t, second)
		expectReady(t, c, second)
		expectOutputs(t, c, second, map[string]string{"greeting": `"hello"`})

		// An observation does not claim the state.
		c.changePolicies(t, second, policyAll())
		expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, one+"/"+first.GetName(), "belongs to")

		c.remove(t, second)
		expectGone(t, c, second)
		expectDone(t, e, "created")
		expectExists(t, c, stateSecret(first, one, suffix))
	})

	t.Run("Elsewhere", func(t *testing.T) {
		t.Parallel()

		first := c.createWorkspace(t, namespacedScope, one, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)))
		expectReady(t, c, first)

		// A state of that name in another place is free to be taken.
		other := newClusterConfig(withBackend(two, suffix))
		c.create(t, other)

		e := newEvidence(t)
		opts := []workspaceOption{inShard(shard), withConfig(other), withEvidence(t, "evidence.tf", e)}
		former := newTwin(first, two, opts...)
		former.SetManagementPolicies(policyNoDelete())
		c.create(t, former)
		expectReady(t, c, former)
		c.remove(t, former)
		expectGone(t, c, former)

		heir := newTwin(first, two, opts...)
		c.create(t, heir)
		expectReady(t, c, heir)
		expectDone(t, e, "created")
		c.acceptTakenOver(t, heir)
		c.remove(t, heir)
		expectGone(t, c, heir)
		expectDone(t, e, "created", "destroyed")
		expectExists(t, c, stateSecret(first, one, suffix))
	})

	t.Run("Heirs", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}
		former := c.createManaged(t, namespacedScope, one, policyNoDelete(), opts...)
		expectReady(t, c, former)
		c.remove(t, former)
		expectGone(t, c, former)

		// Both want the remaining state. The first one to observe it owns it, not the
		// older one.
		elder, younger := newTwin(former, one, opts...), newTwin(former, two, opts...)
		meta.AddAnnotations(elder, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		c.create(t, elder)
		c.create(t, younger)
		expectReady(t, c, younger)

		c.annotate(t, elder, meta.AnnotationKeyReconciliationPaused, nil)
		expectCondition(t, c, elder, xpv2.TypeSynced, corev1.ConditionFalse, younger.GetNamespace()+"/"+younger.GetName(), "belongs to")

		c.remove(t, elder)
		expectGone(t, c, elder)
		expectDone(t, e, "created")
		c.acceptTakenOver(t, younger)
		c.remove(t, younger)
		expectGone(t, c, younger)
		expectDone(t, e, "created", "destroyed")
	})

	t.Run("Simultaneous", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}
		first := newWorkspace(namespacedScope, one, opts...)
		second := newTwin(first, two, opts...)
		c.create(t, first)
		c.create(t, second)

		var winner, loser workspace.Workspace

		eventually(t, func() error {
			c.get(t, first)
			c.get(t, second)

			switch {
			case isReady(first) == nil:
				winner, loser = first, second
			case isReady(second) == nil:
				winner, loser = second, first
			default:
				return errors.New("neither Workspace is ready")
			}

			return nil
		})
		expectCondition(t, c, loser, xpv2.TypeSynced, corev1.ConditionFalse, winner.GetNamespace()+"/"+winner.GetName(), "belongs to")
		expectDone(t, e, "created")

		c.remove(t, loser)
		expectGone(t, c, loser)
		expectDone(t, e, "created")
		expectExists(t, c, stateSecret(winner, one, suffix))
		expectAnotherLook(t, c, i, winner)
		expectReady(t, c, winner)
	})
}

// expectAnotherLook requests a reconcile of the Workspace, and waits until it is over.
func expectAnotherLook(t *testing.T, c *cluster, i *instance, ws workspace.Workspace) {
	t.Helper()

	token := unique("look")
	before := len(i.runs.of(string(ws.GetUID())))
	c.annotate(t, ws, "crossplane.io/reconcile-requested-at", token)
	expectHandled(t, c, ws, token)

	if len(i.runs.of(string(ws.GetUID()))) == before {
		t.Errorf("the instance did not run the CLI for Workspace %q", ws.GetName())
	}
}
