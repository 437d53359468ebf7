// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestNamespaceDeletion deletes a namespace with everything in it. Nothing can be created
// there any more. The namespace controller, which is not a part of the API server, deletes
// the kinds in random order: here the Workspaces are last, after all that they need.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, states, shard := c.namespace(t), c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(states, "namespace"))
	value := c.secretKey(t, ns, "value")
	create := func(r references, e evidence, opts ...workspaceOption) workspace.Workspace {
		return c.createReferring(t, namespacedScope, ns, r, append(opts, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))...)
	}

	one, two := newEvidence(t), newEvidence(t)
	alone := create(references{}, one, withApproval(commonv1beta1.ApprovalDestroy))
	needy := create(references{env: []commonv1beta1.EnvVar{{Name: "VALUE", SecretKeyReference: value}}}, two)

	expectReady(t, c, alone)
	expectReady(t, c, needy)
	expectUsers(t, c, cfg, 2)

	c.remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	c.remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: value.Name}})
	c.remove(t, cfg)
	c.remove(t, usageOf(alone))
	c.remove(t, usageOf(needy))

	c.remove(t, needy)
	expectCondition(t, c, needy, xpv2.TypeSynced, corev1.ConditionFalse, "cannot get Secret "+ns+"/"+value.Name, "not found")

	// Nor does a namespace that ends approve anything.
	c.remove(t, alone)
	c.annotate(t, alone, approvePlan, expectPending(t, c, alone, "DeletionPending", "1 resource would be destroyed"))
	expectGone(t, c, alone)
	expectDone(t, one, "created", "destroyed")

	// The Secret cannot be created again, but the Workspace can be changed to need none.
	c.patch(t, needy, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"env": []any{}}}})
	expectGone(t, c, needy)
	expectDone(t, two, "created", "destroyed")
	expectGone(t, c, cfg)
}

// TestStateNamespaceDeletion deletes a namespace with the states of Workspaces in it, in every order.
func TestStateNamespaceDeletion(t *testing.T) {
	t.Parallel()

	const suffix = "terminating"

	module := moduleFile(t, "evidence.tf") + `
resource "terraform_data" "gate" {
  input = var.dir

  provisioner "local-exec" {
    when    = destroy
    command = "echo destroying >>'${self.input}/done'; until [ -e '${self.input}/gate' ] || [ ! -d '${self.input}' ]; do sleep 0.1; done"
  }

  depends_on = [terraform_data.evidence]
}
`

	for cli, s := range map[string]scope{commonTofu: namespacedScope, commonTerraform: clusterScope} {
		t.Run(cli, func(t *testing.T) {
			t.Parallel()

			// begin creates a Workspace and deletes the namespace with its state.
			begin := func(t *testing.T) (c *cluster, i *instance, ws workspace.Workspace, e evidence, removeLock, removeState func()) {
				t.Helper()

				c, ns, shard, i := useCommon(t, cli)
				e = newEvidence(t)
				ws = c.createWorkspace(t, s, ns, inShard(shard), withConfig(c.createConfig(t, s, ns, withBackend(ns, suffix))), withModule(module), withVar("dir", string(e)))
				expectReady(t, c, ws)
				c.remove(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})

				removeLock = func() {
					c.remove(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: lockOf(ws, suffix)}})
				}
				removeState = func() { c.remove(t, stateSecret(ws, ns, suffix)) }

				return c, i, ws, e, removeLock, removeState
			}

			t.Run("DuringDestroy", func(t *testing.T) {
				t.Parallel()

				c, i, ws, e, removeLock, removeState := begin(t)

				c.remove(t, ws)
				expectDone(t, e, "created", "destroying")
				expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonDeleting)
				removeState()
				removeLock()

				e.write(t, "gate", "")
				expectGone(t, c, ws)
				expectDone(t, e, "created", "destroying", "destroyed")
				expectErroredState(t, i, ws, false)
			})

			t.Run("LockFirst", func(t *testing.T) {
				t.Parallel()

				c, _, ws, e, removeLock, _ := begin(t)
				removeLock()
				e.write(t, "gate", "")
				c.remove(t, ws)
				expectGone(t, c, ws)
				expectDone(t, e, "created", "destroying", "destroyed")
			})

			t.Run("StateFirst", func(t *testing.T) {
				t.Parallel()

				c, _, ws, e, removeLock, removeState := begin(t)
				lost := []string{"is gone: expected lineage", "2 resources", workspace.AcceptLostStateAnnotationKey + "=" + ws.GetOwnership().Lineage}

				removeState()
				removeLock()
				c.request(t, ws)
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, lost...)

				c.remove(t, ws)
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, append(lost, "leave its infrastructure behind, set spec.")...)
				expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonDeleting)

				c.annotate(t, ws, workspace.AcceptLostStateAnnotationKey, ws.GetOwnership().Lineage)
				expectGone(t, c, ws)
				expectDone(t, e, "created")
			})
		})
	}
}
