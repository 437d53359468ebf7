// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// finalizer keeps a Workspace until its resources are destroyed.
const finalizer = "finalizer.managedresource.crossplane.io"

// TestLifecycle takes a Workspace of each kind from creation to deletion, through changes,
// drift and a failure, with each CLI and with its state in the kubernetes backend. Other
// tests run one of the four combinations.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		c := shared.sharded.started(t)
		ns, shard := c.namespace(t), unique("shard")
		startInstance(t, c, withShard(shard), withCLI(cli))

		eachScope(t, func(t *testing.T, s scope) {
			const (
				suffix   = "lifecycle"
				follower = `
resource "terraform_data" "follower" {
  input = file("${var.dir}/world")
}

output "world" {
  value = terraform_data.follower.output
}
`
			)

			e := newEvidence(t)
			cfg := c.createConfig(t, s, ns, withBackend(ns, suffix))
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
			state := stateSecret(ws, ns, suffix)

			expectReady(t, c, ws)
			expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
			expectDone(t, e, "created")
			expectExists(t, c, state)

			if have := meta.GetExternalName(ws); have != ws.GetName() {
				t.Errorf("external name: want %q, got %q", ws.GetName(), have)
			}

			if !slices.Contains(ws.GetFinalizers(), finalizer) {
				t.Errorf("finalizers: want %q among %q", finalizer, ws.GetFinalizers())
			}

			c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "good morning"})
			expectOutputs(t, c, ws, map[string]string{"greeting": `"good morning"`})
			expectReady(t, c, ws)

			e.write(t, "world", "old")
			c.changeModule(t, ws, moduleFile(t, "evidence.tf")+follower)
			expectOutputs(t, c, ws, map[string]string{"greeting": `"good morning"`, "world": `"old"`})
			e.write(t, "world", "new")
			c.request(t, ws)
			expectOutputs(t, c, ws, map[string]string{"greeting": `"good morning"`, "world": `"new"`})
			expectReady(t, c, ws)

			c.changeModule(t, ws, moduleFile(t, "evidence.tf")+moduleFile(t, "invalid.tf"))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Reference to undeclared input variable")
			expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse)
			expectReadable(t, ws.GetCondition(xpv2.TypeSynced))
			c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
			expectReady(t, c, ws)
			expectDone(t, e, "created")

			c.remove(t, ws)
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")
			expectGone(t, c, state)
		})
	})
}

// TestDeleteRightAfterCreation deletes a Workspace right after its creation, in one case
// with a clock that is ahead. Nothing has to settle: the state has the resources to
// destroy.
func TestDeleteRightAfterCreation(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "deletion"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectDone(t, e, "created")

	c.remove(t, ws)
	within(t, 20*time.Second, func() error { return isGone(t, c, ws) })
	expectDone(t, e, "created", "destroyed")
	expectGone(t, c, stateSecret(ws, ns, "deletion"))

	e = newEvidence(t)
	ws = c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)
	c.annotate(t, ws, meta.AnnotationKeyExternalCreateSucceeded, time.Now().Add(time.Hour).Format(time.RFC3339))
	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// TestNothingToCreate has a module without resources. The Workspace is Ready, also if it
// only observes, and is not created again and again.
func TestNothingToCreate(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "nothing"))

	for name, policies := range map[string][]xpv2.ManagementAction{"All": policyAll(), "Observe": policyObserve()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := c.createManaged(t, namespacedScope, ns, policies, inShard(shard), withConfig(cfg), withModule("locals {}"), onlyHere())
			expectReady(t, c, ws)
			c.request(t, ws)
			expectReady(t, c, ws)

			if runs := i.runs.of(string(ws.GetUID())); slices.Contains(runs, "apply") {
				t.Errorf("want nothing to be applied, got %q", runs)
			}

			c.remove(t, ws)
			expectGone(t, c, ws)
		})
	}
}

// TestLocalBackend runs a Workspace that says nothing about a backend: its state
// stays in the workdir.
func TestLocalBackend(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)
	expectDone(t, e, "created")

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// TestPoll changes a resource outside of the module and waits for the next poll.
func TestPoll(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withPoll(pollOften))

	e := newEvidence(t)
	e.write(t, "world", "old")

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "poll"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "drift.tf", e))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"world": `"old"`})

	// An observation without a difference changes nothing.
	expectAnotherRun(t, i, ws, "plan")
	expectAnotherRun(t, i, ws, "plan")
	expectOutputs(t, c, ws, map[string]string{"world": `"old"`})

	generation := ws.GetGeneration()

	e.write(t, "world", "new")
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
	expectReady(t, c, ws)

	if ws.GetGeneration() != generation {
		t.Errorf("generation: want %d as before, got %d", generation, ws.GetGeneration())
	}
}

// TestRequestedReconcile requests a reconcile of a Workspace before the next poll.
func TestRequestedReconcile(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	e := newEvidence(t)
	e.write(t, "world", "old")

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "drift.tf", e))
	expectReady(t, c, ws)

	e.write(t, "world", "new")
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationKeyReconcileRequestedAt: "now"}}})
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
}

// TestPaused holds a Workspace still by its annotation.
func TestPaused(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard))

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
	c.create(t, ws)
	eventually(t, func() error {
		c.get(t, ws)

		if have := ws.GetCondition("Synced"); have.Reason != "ReconcilePaused" {
			return errors.Errorf("want a paused Workspace, got %s", describe(have))
		}

		return nil
	})
	expectNotServedBy(t, i, ws)

	c.patch(t, ws, map[string]any{"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationKeyReconciliationPaused: nil}}})
	expectReady(t, c, ws)
}
