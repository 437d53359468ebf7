// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

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
		c, ns, shard, _ := useCommon(t, cli)

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

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "deletion"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectDone(t, e, "created")

	c.remove(t, ws)
	expectGone(t, c, ws)
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

	c, ns, shard, i := useTerraform(t)

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

// TestPoll changes a resource outside of the module and waits for the next poll. A poll for which
// there is nothing to do is one plan, and leaves all files as they are, not merely with the same
// content.
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
	expectAnotherRun(t, i, ws, "plan")

	before := lasting(t, i, string(ws.GetUID()))

	expectAnotherRun(t, i, ws, "plan")
	expectAnotherRun(t, i, ws, "plan")

	if diff := cmp.Diff(before, lasting(t, i, string(ws.GetUID()))); diff != "" {
		t.Errorf("inodes and times of files: -before, +after polls:\n%s", diff)
	}

	runs := i.runs.of(string(ws.GetUID()))
	polls := slices.Repeat([]string{"plan"}, len(runs)-3)

	if diff := cmp.Diff(append([]string{"init", "plan", "apply"}, polls...), runs); diff != "" {
		t.Errorf("runs of the CLI: -want, +got:\n%s", diff)
	}

	expectOutputs(t, c, ws, map[string]string{"world": `"old"`})

	generation := ws.GetGeneration()

	e.write(t, "world", "new")
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
	expectReady(t, c, ws)

	if ws.GetGeneration() != generation {
		t.Errorf("generation: want %d as before, got %d", generation, ws.GetGeneration())
	}
}
