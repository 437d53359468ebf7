// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestForgottenReplacement replaces resources with destroy = false. OpenTofu then creates another one and forgets the old
// one, which the CLI counts neither as a replacement nor as a deletion.
func TestForgottenReplacement(t *testing.T) {
	t.Parallel()

	const block = "import {\n  to = terraform_data.a\n  id = \"x\"\n}\n"

	module := func(version int) string {
		return fmt.Sprintf("resource \"terraform_data\" \"a\" {\n  triggers_replace = %d\n  lifecycle {\n    destroy = false\n  }\n}\n", version)
	}

	c, ns, shard, _ := useOpenTofu(t)
	opts := []workspaceOption{inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "forget")))}

	t.Run("Imported", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, append(opts, withModule(module(1)+block))...)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would import terraform_data.a and forget it")
	})

	t.Run("Approved", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, append(opts, withModule(module(1)), withApproval(commonv1beta1.ApprovalDestroy))...)
		expectReady(t, c, ws)
		c.changeModule(t, ws, module(2))
		id := expectPending(t, c, ws, "PlanPending", "replace terraform_data.a")
		c.annotate(t, ws, approvePlan, id)
		expectReason(t, c, ws, awaitingApproval, "Approved")
		expectReady(t, c, ws)

		if s := ws.GetObservation().State; s == nil || s.Resources != 1 {
			t.Errorf("want one resource in the status, got %+v", s)
		}
	})

	t.Run("TakenOver", func(t *testing.T) {
		t.Parallel()

		former := c.createManaged(t, namespacedScope, ns, policyNoDelete(), append(opts, withModule(module(1)))...)
		expectReady(t, c, former)
		c.remove(t, former)
		expectGone(t, c, former)

		ws := newWorkspace(namespacedScope, ns, append(opts, withModule(module(2)))...)
		meta.SetExternalName(ws, former.GetName())
		c.create(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would destroy or forget 1 resource (terraform_data.a)")
	})
}
