// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestForceCopy changes the ProviderConfig of a Workspace, and asks init to copy the state: to the place of the
// living state of another tenant, or from there. Nothing is copied.
func TestForceCopy(t *testing.T) {
	t.Parallel()

	const suffix = "victim"

	eachCLI(t, func(t *testing.T, cli string) {
		c, one, shard, _ := useCommon(t, cli)
		two := c.namespace(t)

		theirs, own, local := newClusterConfig(withBackend(one, suffix)), newClusterConfig(withBackend(two, "own")), newClusterConfig(withoutBackend())
		c.create(t, theirs)
		c.create(t, own)
		c.create(t, local)

		victim := newEvidence(t)
		first := c.createWorkspace(t, namespacedScope, one, inShard(shard), withConfig(theirs), withEvidence(t, "evidence.tf", victim))
		expectReady(t, c, first)

		state := stateSecret(first, one, suffix)
		c.get(t, state)

		// move changes the ProviderConfig and the arguments of init.
		move := func(ws workspace.Workspace, config client.Object, args ...string) {
			c.patch(t, ws, map[string]any{"spec": map[string]any{
				"providerConfigRef": map[string]any{"name": config.GetName()},
				"forProvider":       map[string]any{"initArgs": args},
			}})
		}

		expectUnharmed := func() {
			t.Helper()
			expectDone(t, victim, "created")

			now := stateSecret(first, one, suffix)
			c.get(t, now)

			if diff := cmp.Diff(state.Data, now.Data); diff != "" {
				t.Errorf("state of the other tenant: -want, +got:\n%s", diff)
			}
		}

		// To the other tenant.
		e := newEvidence(t)
		there := newTwin(first, two, inShard(shard), withConfig(own), withEvidence(t, "evidence.tf", e))
		c.create(t, there)
		expectReady(t, c, there)
		move(there, theirs, "-migrate-state", "-force-copy")
		expectCondition(t, c, there, xpv2.TypeSynced, corev1.ConditionFalse, `cannot use the argument "-migrate-state" in spec.forProvider.initArgs`, "-reconfigure")
		expectUnharmed()

		move(there, theirs, "-reconfigure")
		expectCondition(t, c, there, xpv2.TypeSynced, corev1.ConditionFalse, "is another one")
		expectUnharmed()

		move(there, own, "-reconfigure")
		expectReady(t, c, there)
		c.remove(t, there)
		expectGone(t, c, there)
		expectDone(t, e, "created", "destroyed")
		expectUnharmed()

		// From the other tenant, after a look at the state.
		e = newEvidence(t)
		back := newWorkspace(namespacedScope, two, inShard(shard), withConfig(theirs), withEvidence(t, "evidence.tf", e))
		meta.SetExternalName(back, first.GetName())
		back.SetManagementPolicies(policyObserve())
		c.create(t, back)
		expectCondition(t, c, back, xpv2.TypeSynced, corev1.ConditionTrue)

		c.changePolicies(t, back, policyAll())
		move(back, local, "--force-copy=true")
		expectCondition(t, c, back, xpv2.TypeSynced, corev1.ConditionFalse, `cannot use the argument "-force-copy" in spec.forProvider.initArgs`)

		move(back, theirs)
		expectCondition(t, c, back, xpv2.TypeSynced, corev1.ConditionFalse, one+"/"+first.GetName(), "belongs to")
		c.remove(t, back)
		expectGone(t, c, back)
		expectDone(t, e, []string{}...)
		expectUnharmed()
	})
}
