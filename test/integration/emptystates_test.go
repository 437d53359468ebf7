// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// expectStates waits until the backend of the supplied namespace and suffix has the states
// of the named Terraform workspaces, each of them with its Lease, and no others.
func expectStates(t *testing.T, c *cluster, namespace, suffix string, names ...string) {
	t.Helper()

	eventually(t, func() error {
		in := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{"tfstateSecretSuffix": suffix}}
		secrets, leases := &corev1.SecretList{}, &coordinationv1.LeaseList{}

		if err := errors.Join(c.kube.List(t.Context(), secrets, in...), c.kube.List(t.Context(), leases, in...)); err != nil {
			return err
		}

		have := map[string]int{}
		for _, s := range secrets.Items {
			have[s.GetLabels()["tfstateWorkspace"]]++
		}

		for _, l := range leases.Items {
			have[l.GetLabels()["tfstateWorkspace"]]++
		}

		for _, name := range names {
			if have[name] != 2 {
				return errors.Errorf("want a Secret and a Lease of %q, got %v", name, have)
			}
		}

		if len(have) != len(names) {
			return errors.Errorf("want states of %q only, got %v", names, have)
		}

		return nil
	})
}

// TestEmptyStates removes the empty states of Workspaces that never created anything, and
// the state of the last one that did. The kubernetes backend creates a state for each
// Workspace that it is used for.
func TestEmptyStates(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	t.Run("ObserveNothing", func(t *testing.T) {
		t.Parallel()

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "observer"))
		ws := c.createManaged(t, namespacedScope, ns, policyObserve(), inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "external resource does not exist")
		expectStates(t, c, ns, "observer")

		if drifted := ws.GetCondition("Drifted"); drifted.Status != corev1.ConditionUnknown {
			t.Errorf("want nothing to have drifted where nothing exists, got %s", describe(drifted))
		}

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectStates(t, c, ns, "observer")
	})

	t.Run("FailingPlan", func(t *testing.T) {
		t.Parallel()

		// Another namespace has a state with the same suffix. It is independent.
		elsewhere := c.namespace(t)
		other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withModule(moduleFile(t, "outputs.tf")),
			withConfig(c.createConfig(t, namespacedScope, ns, withBackend(elsewhere, "failing"))))
		expectReady(t, c, other)

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "failing"))
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "invalid.tf")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot plan")

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectStates(t, c, ns, "failing")
		expectStates(t, c, elsewhere, "failing", "default", other.GetName())
	})

	t.Run("Deleted", func(t *testing.T) {
		t.Parallel()

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "deleted"))
		module := withModule(moduleFile(t, "outputs.tf"))
		first := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), module)
		expectReady(t, c, first)

		last := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), module)
		expectReady(t, c, last)

		c.remove(t, first)
		expectGone(t, c, first)
		expectStates(t, c, ns, "deleted", "default", last.GetName())

		c.remove(t, last)
		expectGone(t, c, last)
		expectStates(t, c, ns, "deleted")
	})
}
