// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	acceptLostState = "terraform.crossplane.io/accept-lost-state"
	requestedAt     = "crossplane.io/reconcile-requested-at"
)

// expectRemembered waits until the status of the Workspace has its state, and returns the
// lineage.
func expectRemembered(t *testing.T, c *cluster, ws workspace.Workspace) string {
	t.Helper()

	lineage := ""

	eventually(t, func() error {
		c.get(t, ws)

		s := ws.GetObservation().State
		if s == nil || s.Lineage == "" || s.Resources != 1 {
			return errors.Errorf("the Workspace %q remembers %+v of its state", ws.GetName(), s)
		}

		lineage = s.Lineage

		return nil
	})

	return lineage
}

// TestLostState takes the state of a Workspace away. Its infrastructure is still
// there: nothing is created until a person says so.
func TestLostState(t *testing.T) {
	t.Parallel()

	const suffix = "lost"

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))

	lose := func(t *testing.T) (workspace.Workspace, evidence, string) {
		t.Helper()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "first")

		lineage := expectRemembered(t, c, ws)
		c.remove(t, stateSecret(ws, ns, suffix))

		return ws, e, lineage
	}

	t.Run("Accepted", func(t *testing.T) {
		t.Parallel()

		ws, e, lineage := lose(t)

		c.annotate(t, ws, requestedAt, "second")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is another one", lineage, acceptLostState+"="+lineage)

		c.annotate(t, ws, acceptLostState, "another")
		expectAnotherRun(t, i, ws, "plan")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, lineage)
		expectDone(t, e, "created")

		c.annotate(t, ws, acceptLostState, lineage)
		expectDone(t, e, "created", "created")
		expectReady(t, c, ws)
	})

	t.Run("Deleted", func(t *testing.T) {
		t.Parallel()

		ws, e, lineage := lose(t)

		c.changeModule(t, ws, moduleFile(t, "evidence.tf")+"\n")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, lineage)
		c.remove(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "so that only what it has is destroyed, with the annotation "+acceptLostState+"="+lineage)
		expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonDeleting)
		expectExists(t, c, ws)

		c.annotate(t, ws, acceptLostState, lineage)
		expectGone(t, c, ws)
		expectDone(t, e, "created")
	})

	// No plan has seen the state yet, and the apply has made its own one.
	t.Run("AtOnce", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e),
			withParameters(func(p *commonv1beta1.ModuleParameters) { p.ApplyArgs = []string{"-refresh=true"} }))
		expectReady(t, c, ws)
		c.remove(t, stateSecret(ws, ns, suffix))
		c.annotate(t, ws, requestedAt, "first")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is another one", acceptLostState)
		expectDone(t, e, "created")
	})

	t.Run("OldCopy", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "first")
		expectHandled(t, c, ws, "first")
		lineage := expectRemembered(t, c, ws)

		backup := stateSecret(ws, ns, suffix)
		c.get(t, backup)

		serial := ws.GetObservation().State.Serial

		c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "second")
		expectHandled(t, c, ws, "second")

		if have := ws.GetObservation().State.Serial; have <= serial {
			t.Errorf("want a serial greater than %d, got %d", serial, have)
		}

		c.patch(t, stateSecret(ws, ns, suffix), map[string]any{"data": backup.Data})
		c.annotate(t, ws, requestedAt, "third")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is an old copy", lineage, fmt.Sprintf("found serial %d", serial))
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
		expectDone(t, e, "created")

		// Accepting the copy does not mean accepting its later loss.
		c.annotate(t, ws, acceptLostState, fmt.Sprintf("%s/%d/%d", lineage, ws.GetObservation().State.Serial, serial))
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "fourth")
		expectHandled(t, c, ws, "fourth")
		c.remove(t, stateSecret(ws, ns, suffix))
		c.annotate(t, ws, requestedAt, "fifth")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, acceptLostState+"="+lineage)
	})

	// "state push" raises the serial of a copy from before the last apply, so that it may be that of the current state. The
	// status does not have the serial after the apply: no run has read it.
	t.Run("PushedCopy", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`resource "terraform_data" "first" {}`))
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "first")
		expectHandled(t, c, ws, "first")

		backup := stateSecret(ws, ns, suffix)
		c.get(t, backup)

		c.changeModule(t, ws, `resource "terraform_data" "first" {}`+"\n"+strings.Replace(moduleFile(t, "evidence.tf"), `type = string`, fmt.Sprintf(`default = %q`, string(e)), 1))
		expectDone(t, e, "created")
		expectReady(t, c, ws)

		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
		expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)

		c.patch(t, stateSecret(ws, ns, suffix), map[string]any{"data": map[string][]byte{"tfstate": withNextSerial(t, backup.Data["tfstate"])}})
		c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is an old copy: expected 2 resources")

		// The loss is the same if the module does not have the resource any more. It would be created again later.
		c.changeModule(t, ws, `resource "terraform_data" "first" {}`)
		eventually(t, func() error {
			c.get(t, ws)

			if s := ws.GetCondition(xpv2.TypeSynced); s.ObservedGeneration != ws.GetGeneration() || !strings.Contains(s.Message, "is an old copy: expected 2 resources") {
				return errors.Errorf("want the same refusal of generation %d, got %s of %d", ws.GetGeneration(), describe(s), s.ObservedGeneration)
			}

			return nil
		})
		expectDone(t, e, "created")
	})

	t.Run("Observed", func(t *testing.T) {
		t.Parallel()

		// A Workspace that only observes has no state to lose, and nothing to accept.
		e := newEvidence(t)
		opts := []workspaceOption{inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)}
		former := c.createManaged(t, namespacedScope, ns, policyNoDelete(), opts...)
		expectReady(t, c, former)
		c.remove(t, former)
		expectGone(t, c, former)

		ws := newWorkspace(namespacedScope, ns, opts...)
		ws.SetManagementPolicies(policyObserve())
		meta.SetExternalName(ws, former.GetName())
		c.create(t, ws)
		expectReady(t, c, ws)
		lineage := expectRemembered(t, c, ws)

		c.remove(t, stateSecret(former, ns, suffix))
		c.annotate(t, ws, requestedAt, "first")
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "external resource does not exist")

		heir := newWorkspace(namespacedScope, ns, append(opts, withVar("greeting", "bye"))...)
		meta.SetExternalName(heir, former.GetName())
		c.create(t, heir)
		expectReady(t, c, heir)

		c.changeVars(t, ws, heir.GetParameters().Vars...)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
		expectReady(t, c, ws)

		if now := expectRemembered(t, c, ws); now == lineage {
			t.Errorf("want another lineage than that of the state that was lost, got %q", now)
		}
	})
}

// TestLostStateOfRestart removes the state of a Workspace while no instance runs. The next
// instance trusts the status, except before a deletion: resources that could not be
// destroyed would be forgotten.
func TestLostStateOfRestart(t *testing.T) {
	t.Parallel()

	const suffix = "lost-restart"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	first := startInstance(t, c, withShard(shard))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	create := func() (workspace.Workspace, evidence) {
		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)
		c.annotate(t, ws, requestedAt, "first")
		expectHandled(t, c, ws, "first")
		expectHandled(t, c, ws, "first")
		expectRemembered(t, c, ws)

		return ws, e
	}
	lost, e := create()
	kept, _ := create()
	seen, _ := create()

	before := len(first.runs.of(string(seen.GetUID())))
	c.remove(t, seen)
	expectGone(t, c, seen)

	if diff := cmp.Diff([]string{"destroy"}, first.runs.of(string(seen.GetUID()))[before:]); diff != "" {
		t.Errorf("deletion of the observed Workspace: -want, +got:\n%s", diff)
	}

	first.stop(t)
	c.remove(t, stateSecret(lost, ns, suffix))

	second := startInstance(t, c, withShard(shard), withRoot(first.root))
	later, _ := create()
	expectServedBy(t, second, later)

	if runs := second.runs.of(string(lost.GetUID())); len(runs) > 0 {
		t.Errorf("the instance ran the CLI for a Workspace that was not due: %v", runs)
	}

	c.remove(t, lost)
	expectCondition(t, c, lost, xpv2.TypeSynced, corev1.ConditionFalse, "is another one", acceptLostState)
	expectReason(t, c, lost, xpv2.TypeReady, xpv2.ReasonDeleting)
	expectDone(t, e, "created")

	c.remove(t, kept)
	expectGone(t, c, kept)
	expectRuns(t, second, kept, "destroy")
}

// TestLostDisk moves a Workspace that has its state on disk to an instance with
// another disk.
func TestLostDisk(t *testing.T) {
	t.Parallel()

	c, ns, one, _ := useOpenTofu(t)
	_, _, two, b := useCommon(t, commonOtherTofu)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createWorkspace(t, clusterScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)
	c.annotate(t, ws, requestedAt, "now")
	lineage := expectRemembered(t, c, ws)

	// The next poll would find it, too.
	c.relabel(t, ws, two)
	c.annotate(t, ws, requestedAt, "after the move")
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is gone", lineage, "no backend", "on the disk")
	expectServedBy(t, b, ws)

	c.relabel(t, ws, one)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionTrue)
	expectReady(t, c, ws)
	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}
