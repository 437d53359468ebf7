// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// expectEvent waits until there is an event about the object with the supplied
// reason, whose message contains every one of the supplied texts.
func expectEvent(t *testing.T, c *cluster, o client.Object, reason string, texts ...string) {
	t.Helper()
	eventually(t, func() error {
		events, err := c.eventsOf(t, o)
		if err != nil {
			return err
		}

		seen := []string{}

		for _, e := range events {
			if e.Reason == reason && containsAll(e.Message, texts) {
				return nil
			}

			seen = append(seen, e.Reason+": "+e.Message)
		}

		return errors.Errorf("no event %s with %q among:\n%s", reason, texts, strings.Join(seen, "\n"))
	})
}

func containsAll(s string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(s, text) {
			return false
		}
	}

	return true
}

// expectPlan waits until the status has the supplied summary, nil for none.
func expectPlan(t *testing.T, c *cluster, ws workspace.Workspace, want *commonv1beta1.PlanSummary) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if diff := cmp.Diff(want, ws.GetObservation().Plan); diff != "" {
			return errors.Errorf("status.atProvider.plan: -want, +got:\n%s", diff)
		}

		return nil
	})
}

// TestDrift runs a module whose resource vanishes without the module. A Workspace with the
// policy Update restores it and reports that. One without the policy only reports the
// drift.
func TestDrift(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "drift"))
	opts := []workspaceOption{inShard(shard), polledOften, withConfig(cfg), withModule(moduleFile(t, "vanishing.tf"))}

	bound := c.createManaged(t, clusterScope, ns, policyNoUpdate(), opts...)
	expectCondition(t, c, bound, "Drifted", corev1.ConditionTrue,
		"1 to add, 0 to change, 0 to destroy", "time_rotating.vanishing")
	expectPlan(t, c, bound, &commonv1beta1.PlanSummary{Add: 1, Summary: "+1 ~0 -0", ResourceChanges: []string{"create time_rotating.vanishing"}, Drifted: []string{"time_rotating.vanishing"}})

	free := c.createWorkspace(t, clusterScope, ns, opts...)
	expectEvent(t, c, free, "DetectedDrift", "1 to add", "time_rotating.vanishing")
	expectReady(t, c, free)

	if have := free.GetCondition("Drifted"); have.Status != corev1.ConditionUnknown {
		t.Errorf("want no condition about drift that is mended, got %s", describe(have))
	}
}

// TestGoneWithItsProvider has a resource that does not exist any more, and a change after which the module does not use its
// provider. The CLI does not call that drift, and the state does not count it after the apply.
func TestGoneWithItsProvider(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, i := useCommon(t, cli)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "provider"))), withModule(moduleFile(t, "vanishing.tf")))
		expectReady(t, c, ws)

		c.changeModule(t, ws, "resource \"terraform_data\" \"lasting\" {}\nresource \"terraform_data\" \"other\" {}\n")
		expectReady(t, c, ws)
		expectOnlyPlans(t, c, i, ws)
		expectReady(t, c, ws)
	})
}

// TestDriftOfModule changes the module. A Workspace that may not be updated reports drift
// until the module is changed back.
func TestDriftOfModule(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	e.write(t, "world", "old")

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "module"))
	ws := c.createManaged(t, namespacedScope, ns, policyNoUpdate(), inShard(shard), polledOften, withConfig(cfg), withEvidence(t, "drift.tf", e))
	expectReady(t, c, ws)
	expectPlan(t, c, ws, nil)

	e.write(t, "world", "new")
	expectCondition(t, c, ws, "Drifted", corev1.ConditionTrue, "0 to add, 1 to change, 0 to destroy: update terraform_data.follower")
	expectPlan(t, c, ws, &commonv1beta1.PlanSummary{Change: 1, Summary: "+0 ~1 -0", ResourceChanges: []string{"update terraform_data.follower"}, OutputChanges: []string{"world"}})
	expectEvent(t, c, ws, "PlannedChanges", "0 to add, 1 to change, 0 to destroy: update terraform_data.follower")
	expectOutputs(t, c, ws, map[string]string{"world": `"old"`})

	e.write(t, "world", "old")
	expectCondition(t, c, ws, "Drifted", corev1.ConditionFalse)
	expectPlan(t, c, ws, nil)

	e.write(t, "world", "new")
	expectCondition(t, c, ws, "Drifted", corev1.ConditionTrue)
	c.changePolicies(t, ws, policyAll())
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
	expectCondition(t, c, ws, "Drifted", corev1.ConditionFalse)
	expectReady(t, c, ws)
}
