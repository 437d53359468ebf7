// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// TestPausedAgain pauses a Workspace once more during the first run after a pause. Who waits for the condition works with the state by hand
// then, so it must not be the one of the earlier pause.
func TestPausedAgain(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, _ := useCommon(t, cli)
		e := newEvidence(t)
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "paused"))

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule("variable \"dir\" {\n  type = string\n}\n"), withVar("dir", string(e)))
		expectReady(t, c, ws)

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)

		c.changeModule(t, ws, moduleFile(t, "gated.tf"))
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
		expectDone(t, e, "created")

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionUnknown, "the first reconcile after it is in progress")
		expectReason(t, c, ws, xpv2.TypeSynced, "ReconcileResumed")

		e.write(t, "gate", "")
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		expectDone(t, e, "created")

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
		expectReady(t, c, ws)
		expectDone(t, e, "created")
	})
}

// TestOtherPause ensures that a person who resumes a Workspace reads what still pauses it.
func TestOtherPause(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "other"))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`output "a" { value = 1 }`))
	expectReady(t, c, ws)

	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "annotation")

	c.changePolicies(t, ws, xpv2.ManagementPolicies{})
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is true and spec.managementPolicies is []")

	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "deletion: spec.managementPolicies is []")

	c.changePolicies(t, ws, xpv2.ManagementPolicies{xpv2.ManagementActionAll})
	expectReady(t, c, ws)
}
