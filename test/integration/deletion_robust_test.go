// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestDeletionOfBroken deletes Workspaces whose inputs are broken. It finishes
// where there is nothing to destroy, and nowhere else.
func TestDeletionOfBroken(t *testing.T) {
	t.Parallel()

	const suffix = "robust"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard))

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withBackend(ns, suffix))

		t.Run("NothingToDestroy", func(t *testing.T) {
			t.Parallel()

			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
			expectReady(t, c, ws)
			c.changeModule(t, ws, `output "unfinished" {`)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

			c.remove(t, ws)
			expectGone(t, c, ws)
			expectGone(t, c, stateSecret(ws, ns, suffix))
		})

		t.Run("VanishedConfigMap", func(t *testing.T) {
			t.Parallel()

			values := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: unique("values")},
				Data:       map[string]string{"vars": `text = "given"`},
			}
			c.create(t, values)

			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(`
variable "text" {
  default = ""
}

output "text" {
  value = var.text
}
`))
			c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"varFiles": []any{map[string]any{
				"source":          "ConfigMapKey",
				"configMapKeyRef": map[string]any{"namespace": ns, "name": values.GetName(), "key": "vars"},
			}}}}})
			expectOutputs(t, c, ws, map[string]string{"text": `"given"`})
			expectReady(t, c, ws)

			c.remove(t, values)
			c.remove(t, ws)
			expectGone(t, c, ws)
			expectGone(t, c, stateSecret(ws, ns, suffix))
		})

		t.Run("FailedCreation", func(t *testing.T) {
			t.Parallel()

			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "failing.tf", newEvidence(t)))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "exit status 7")
			expectExists(t, c, stateSecret(ws, ns, suffix))

			c.remove(t, ws)
			expectGone(t, c, ws)
			expectGone(t, c, stateSecret(ws, ns, suffix))
		})

		t.Run("SomethingToDestroy", func(t *testing.T) {
			t.Parallel()

			e := newEvidence(t)
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
			expectReady(t, c, ws)
			c.changeModule(t, ws, `output "unfinished" {`)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "delete failed", "Unclosed configuration block")
			expectReadable(t, ws.GetCondition(xpv2.TypeSynced))
			expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonDeleting)
			// Once more, because the first try may have changed something.
			expectAnotherRun(t, i, ws, "destroy")
			expectExists(t, c, ws)
			expectExists(t, c, stateSecret(ws, ns, suffix))
			expectDone(t, e, "created")

			c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")
			expectGone(t, c, stateSecret(ws, ns, suffix))
		})
	})
}
