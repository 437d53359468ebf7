// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestCreating checks the conditions of a Workspace during its first apply: they name the
// step in progress.
func TestCreating(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "creating"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e))

	expectDone(t, e, "created")
	expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "Applying: 1 to add, 0 to change, 0 to destroy: create terraform_data.gated")
	expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonCreating)
	expectPlan(t, c, ws, &commonv1beta1.PlanSummary{Add: 1, Summary: "+1 ~0 -0", ResourceChanges: []string{"create terraform_data.gated"}, OutputChanges: []string{"greeting"}})

	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectPlan(t, c, ws, nil)
	expectEvent(t, c, ws, "CreatedExternalResource", "Applied in ", ": 1 added, 0 changed, 0 destroyed: create terraform_data.gated")

	for _, reason := range []string{"PlannedChanges", "AppliedChanges"} {
		if n := countEvents(t, c, ws, reason); n != 0 {
			t.Errorf("want one Event about a creation, got %s, too", reason)
		}
	}

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectEvent(t, c, ws, "DeletedExternalResource", "Destroyed in ", ": 1 destroyed")
}
