// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestRemovedFinalizer replaces Workspaces with manifests without finalizers, as "kubectl replace" does. The finalizer is
// added again, whatever else is the matter with the Workspace, so that a deletion destroys what there is.
func TestRemovedFinalizer(t *testing.T) {
	t.Parallel()

	broken := map[string]any{"forProvider": map[string]any{"module": `output "unfinished" {`}}

	cases := map[string]struct {
		reason string
		module string
		begun  func(t *testing.T, c *cluster, ws workspace.Workspace) // Waits for the moment of the replacement.

		// annotations and spec of the manifest, beside those of the Workspace.
		annotations map[string]string
		spec        map[string]any
		mend        func(t *testing.T, c *cluster, ws workspace.Workspace, e evidence)
		runs        bool
	}{
		"Ready": {reason: "No run is needed.", module: "evidence.tf", begun: expectReady, annotations: map[string]string{}, spec: map[string]any{}},
		"Paused": {
			reason: "Nothing else is done.", module: "evidence.tf", begun: expectReady, annotations: map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}, spec: map[string]any{},
			mend: func(t *testing.T, c *cluster, ws workspace.Workspace, _ evidence) {
				t.Helper()
				c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "false")
			},
		},
		"Mistake": {
			reason: "No reconcile succeeds.", module: "evidence.tf", begun: expectReady, annotations: map[string]string{}, spec: broken, runs: true,
			mend: func(t *testing.T, c *cluster, ws workspace.Workspace, _ evidence) {
				t.Helper()
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "unfinished")
				c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
			},
		},
		"Apply": {
			reason: "A reconcile is in progress.", module: "gated.tf", annotations: map[string]string{}, spec: map[string]any{}, runs: true,
			begun: func(t *testing.T, c *cluster, ws workspace.Workspace) {
				t.Helper()
				expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse, "Applying: ")
			},
			mend: func(t *testing.T, _ *cluster, _ workspace.Workspace, e evidence) {
				t.Helper()
				e.write(t, "gate", "")
			},
		},
	}

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, i := useCommon(t, cli)

		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				eachScope(t, func(t *testing.T, s scope) {
					e := newEvidence(t)
					cfg := c.createConfig(t, s, ns, withBackend(ns, "finalizer"))
					ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, tc.module, e))
					tc.begun(t, c, ws)

					before := i.runs.of(string(ws.GetUID()))

					c.patch(t, ws, map[string]any{"metadata": map[string]any{"finalizers": nil, "annotations": tc.annotations}, "spec": tc.spec})
					eventually(t, func() error {
						c.get(t, ws)

						if !meta.FinalizerExists(ws, managed.FinalizerName) {
							return errors.Errorf("%s: want the finalizer of the provider, got %q", tc.reason, ws.GetFinalizers())
						}

						return nil
					})

					if !tc.runs {
						expectRuns(t, i, ws, before...)
					}

					c.remove(t, ws)

					if tc.mend != nil {
						tc.mend(t, c, ws, e)
					}

					expectGone(t, c, ws)
					expectDone(t, e, "created", "destroyed")
				})
			})
		}
	})
}

// TestDeletionOfBroken deletes Workspaces whose inputs are broken. It finishes
// where there is nothing to destroy, and nowhere else.
func TestDeletionOfBroken(t *testing.T) {
	t.Parallel()

	const suffix = "robust"

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))

	t.Run("NothingToDestroy", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		c.changeModule(t, ws, `output "unfinished" {`)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectGone(t, c, stateSecret(ws, ns, suffix))
	})

	// The state says what would be destroyed, so that a person can approve that before the module is mended.
	t.Run("Approval", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), withApproval(commonv1beta1.ApprovalDestroy))
		expectReady(t, c, ws)
		c.changeModule(t, ws, `output "unfinished" {`)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

		c.remove(t, ws)
		c.annotate(t, ws, approvePlan, expectPending(t, c, ws, "DeletionPending", "1 resource would be destroyed"))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "unfinished")

		c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
	})

	t.Run("VanishedKey", func(t *testing.T) {
		t.Parallel()

		e, values := newEvidence(t), c.secretKey(t, ns, `greeting = "bye"`)
		files := references{varFiles: []commonv1beta1.VarFile{secretVars(values, nil)}}
		nothing := c.createReferring(t, clusterScope, ns, files, inShard(shard), withConfig(cfg), withModule(echo("greeting")))
		something := c.createReferring(t, clusterScope, ns, files, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, nothing)
		expectReady(t, c, something)

		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: values.Name}}
		c.patch(t, secret, map[string]any{"data": map[string]any{values.Key: nil}})
		c.remove(t, nothing)
		expectGone(t, c, nothing)

		c.remove(t, something)
		expectCondition(t, c, something, xpv2.TypeSynced, corev1.ConditionFalse, "varFiles[0]", "couldn't find key "+values.Key+" in Secret "+ns+"/"+values.Name, "restore what is missing")
		expectDone(t, e, "created")

		c.patch(t, secret, map[string]any{"stringData": map[string]any{values.Key: `greeting = "bye"`}})
		expectGone(t, c, something)
		expectDone(t, e, "created", "destroyed")
	})

	t.Run("LetGo", func(t *testing.T) {
		t.Parallel()

		// The condition says how to get rid of a Workspace whose variables are gone for good.
		ways := map[scope]struct {
			says   string
			change map[string]any
		}{
			clusterScope:    {says: "set spec.deletionPolicy to Orphan", change: map[string]any{"deletionPolicy": "Orphan"}},
			namespacedScope: {says: `set spec.managementPolicies to ["Observe", "Create", "Update"]`, change: map[string]any{"managementPolicies": []string{"Observe", "Create", "Update"}}},
		}

		eachScope(t, func(t *testing.T, s scope) {
			cfg := c.createConfig(t, s, ns, withBackend(ns, suffix))
			e, values := newEvidence(t), c.configMapKey(t, ns, `greeting = "bye"`)
			ws := c.createReferring(t, s, ns, references{varFiles: []commonv1beta1.VarFile{configMapVars(values, nil)}}, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
			expectReady(t, c, ws)

			c.remove(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: values.Name}})
			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot get ConfigMap "+ns+"/"+values.Name+" with key "+values.Key, ways[s].says)

			c.patch(t, ws, map[string]any{"spec": ways[s].change})
			expectGone(t, c, ws)
			expectExists(t, c, stateSecret(ws, ns, suffix))
			expectDone(t, e, "created")
		})
	})

	t.Run("VanishedEnvironment", func(t *testing.T) {
		t.Parallel()

		// The environment says where the state is. Elsewhere there is none, which must
		// not be taken for one without resources.
		elsewhere := c.namespace(t)
		partial := "terraform {\n  backend \"kubernetes\" {\n    secret_suffix = \"" + suffix + "\"\n  }\n}\n"
		place := c.configMapKey(t, ns, elsewhere)

		e := newEvidence(t)
		ws := c.createReferring(t, clusterScope, ns, references{env: []commonv1beta1.EnvVar{{Name: "KUBE_NAMESPACE", ConfigMapKeyReference: place}}},
			inShard(shard), withConfig(c.createConfig(t, clusterScope, ns, configSpec{Configuration: &partial})), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		expectExists(t, c, stateSecret(ws, elsewhere, suffix))

		values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: place.Name}}
		c.patch(t, values, map[string]any{"data": map[string]any{place.Key: nil}})
		c.remove(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.forProvider.env KUBE_NAMESPACE: ", "couldn't find key "+place.Key+" in ConfigMap "+ns+"/"+place.Name)
		expectExists(t, c, stateSecret(ws, elsewhere, suffix))
		expectDone(t, e, "created")

		c.patch(t, values, map[string]any{"data": map[string]any{place.Key: elsewhere}})
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
		expectGone(t, c, stateSecret(ws, elsewhere, suffix))
	})

	t.Run("SomethingToDestroy", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		c.changeModule(t, ws, `output "unfinished" {`)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

		c.remove(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Unclosed configuration block")
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
}
