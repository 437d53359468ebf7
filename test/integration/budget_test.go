// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestRunBudget counts the runs of the CLI, which are the main cost of a Workspace.
func TestRunBudget(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "budget"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	runs := []string{"init", "plan", "apply"}
	expectRuns(t, i, ws, runs...)

	c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
	expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
	expectReady(t, c, ws)

	runs = append(runs, "plan", "apply")
	expectRuns(t, i, ws, runs...)

	c.remove(t, ws)
	expectGone(t, c, ws)

	expectRuns(t, i, ws, append(runs, "destroy")...)

	// The module and the configuration are known by now. The variables, the name and
	// the address of the state are not inputs of init.
	next := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)))
	expectReady(t, c, next)
	expectRuns(t, i, next, "plan", "apply")

	c.annotate(t, next, meta.AnnotationKeyReconcileRequestedAt, "now")
	expectRuns(t, i, next, "plan", "apply", "plan")

	// Another backend is another configuration.
	other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "other"))),
		withEvidence(t, "evidence.tf", newEvidence(t)))
	expectReady(t, c, other)
	expectRuns(t, i, other, "init", "plan", "apply")
}

// TestRunBudgetOfSharedVolume counts the runs of two shards on one volume: one uses the
// result of the other's init, unless its arguments ask for newer versions.
func TestRunBudgetOfSharedVolume(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	home := withEnv("HOME", t.TempDir())
	a := startInstance(t, c, withShard(one), home)
	b := startInstance(t, c, withShard(two), withRunsOf(a), home, withRoot(a.root))

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "volume"))
	expect := func(i *instance, shard string, upgrade workspaceOption, runs ...string) {
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)), upgrade)
		expectReady(t, c, ws)
		expectRuns(t, i, ws, runs...)
	}

	expect(a, one, func(*workspaceSpec) {}, "init", "plan", "apply")
	expect(b, two, func(*workspaceSpec) {}, "plan", "apply")

	upgrade := func(w *workspaceSpec) { w.params.InitArgs = []string{"-upgrade"} }
	expect(b, two, upgrade, "init", "plan", "apply")
	expect(a, one, upgrade, "init", "plan", "apply")
}
