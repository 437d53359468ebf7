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

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// annotate sets an annotation of the Workspace, or removes it if the value is nil.
func (c *cluster) annotate(t *testing.T, ws workspace.Workspace, key string, value any) {
	t.Helper()
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
}

// label sets a label of the Workspace.
func (c *cluster) label(t *testing.T, ws workspace.Workspace, key, value string) {
	t.Helper()
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}})
}

// expectReason waits until the condition of the Workspace has the supplied reason.
func expectReason(t *testing.T, c *cluster, ws workspace.Workspace, typ xpv2.ConditionType, reason xpv2.ConditionReason) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if have := ws.GetCondition(typ); have.Reason != reason {
			return errors.Errorf("want reason %s, got %s", reason, describe(have))
		}

		return nil
	})
}

// TestAnnotations steers Workspaces by their annotations.
func TestAnnotations(t *testing.T) {
	t.Parallel()

	const suffix = "annotations"

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))
	expectReady(t, c, c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(`output "first" { value = 1 }`)))

	t.Run("Paused", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e), onlyHere())
		meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		c.create(t, ws)
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		expectNotServedBy(t, i, ws)

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
		expectReady(t, c, ws)

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		expectRuns(t, i, ws, "init", "plan", "apply")

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
		expectReady(t, c, ws)
		expectRuns(t, i, ws, "init", "plan", "apply", "plan", "apply")

		// Changes made during a pause are seen as soon as it is over.
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcileSuccess)
		expectRuns(t, i, ws, "init", "plan", "apply", "plan", "apply", "plan")
	})

	t.Run("PollInterval", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)

		c.annotate(t, ws, meta.AnnotationKeyPollInterval, pollOften.String())

		for range 3 {
			expectAnotherRun(t, i, ws, "plan")
		}
	})

	t.Run("ReconcileRequest", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(`output "a" { value = 1 }`), onlyHere())
		expectReady(t, c, ws)

		runs := []string{"init", "plan", "apply"}

		for _, token := range []string{"first", "second"} {
			c.annotate(t, ws, meta.AnnotationKeyReconcileRequestedAt, token)
			expectHandled(t, c, ws, token)

			runs = append(runs, "plan")
			expectRuns(t, i, ws, runs...)
		}

		// A change of any other annotation or of a label triggers a reconcile as well:
		// people use it to request one. Writing the same value again does not.
		for _, change := range []func(){
			func() { c.annotate(t, ws, "example.org/unrelated", "1") },
			func() { c.label(t, ws, "example.org/unrelated", "1") },
		} {
			change()

			runs = append(runs, "plan")
			expectRuns(t, i, ws, runs...)
			change()
		}

		c.annotate(t, ws, meta.AnnotationKeyReconcileRequestedAt, "third")
		expectHandled(t, c, ws, "third")
		expectRuns(t, i, ws, append(runs, "plan")...)

		if have := ws.GetObservedGeneration(); have != ws.GetGeneration() {
			t.Errorf("status.observedGeneration: want %d, which was found up to date, got %d", ws.GetGeneration(), have)
		}
	})

	t.Run("ExternalName", func(t *testing.T) {
		t.Parallel()

		name := unique("chosen")
		ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		meta.SetExternalName(ws, name)
		c.create(t, ws)
		expectReady(t, c, ws)

		state := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tfstate-" + name + "-" + suffix}}
		expectExists(t, c, state)

		if err := isGone(t, c, stateSecret(ws, ns, suffix)); err != nil {
			t.Errorf("the state has the name of the Workspace: %v", err)
		}

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectGone(t, c, state)
	})
}

// expectHandled waits until the Workspace acknowledges the request for a reconcile.
func expectHandled(t *testing.T, c *cluster, ws workspace.Workspace, token string) {
	t.Helper()

	tracker, ok := ws.(interface{ GetLastHandledReconcileAt() string })
	if !ok {
		t.Fatalf("%T does not say which request it handled", ws)
	}

	eventually(t, func() error {
		c.get(t, ws)

		if have := tracker.GetLastHandledReconcileAt(); have != token {
			return errors.Errorf("want request %q to be handled, got %q", token, have)
		}

		return nil
	})
}
