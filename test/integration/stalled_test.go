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

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// TestStalled runs a Workspace that keeps failing. It is retried less and less often, so
// that others get their turn, until its specification changes.
func TestStalled(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "stalled"))
	healthy := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	meta.AddAnnotations(healthy, map[string]string{meta.AnnotationKeyPollInterval: pollOften.String()})
	c.create(t, healthy)

	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "invalid.tf")))
	expectCondition(t, c, ws, "Stalled", corev1.ConditionTrue, "5 times", "next try ")
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Reference to undeclared input variable")
	expectReadable(t, ws.GetCondition("Stalled"))

	// A reconcile fails before any run if the cache does not have the ProviderConfig yet.
	before, since := count(i.runs.of(string(ws.GetUID())), "plan"), time.Now()

	if before < 2 || before > 5 {
		t.Errorf("want 5 tries at most before a Workspace is stalled, got %d", before)
	}

	// Healthy ones are served in the meantime. A Workspace that is not stalled would be retried each eight seconds
	// in this time, and a stalled one after three quarters of a minute, and less often after that.
	expectReady(t, c, healthy)

	for range 10 {
		expectAnotherRun(t, i, healthy, "plan")
	}

	more, atMost := count(i.runs.of(string(ws.GetUID())), "plan")-before, int(time.Since(since)/(30*time.Second))
	if more > atMost {
		t.Errorf("want at most %d more tries of a stalled Workspace, got %d", atMost, more)
	}

	// Pausing it does not have to wait for its turn.
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
	expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)

	// It is tried at once when the pause ends: a person may have mended the cause.
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
	expectAnotherRun(t, i, ws, "plan")

	// A request is served at once, but does not mend anything.
	token := unique("request")
	c.annotate(t, ws, meta.AnnotationKeyReconcileRequestedAt, token)
	expectHandled(t, c, ws, token)

	if have := count(i.runs.of(string(ws.GetUID())), "plan"); have <= before+more {
		t.Errorf("want another try on request, got %d after %d", have, before+more)
	}

	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)

	c.changeModule(t, ws, moduleFile(t, "outputs.tf"))
	expectReady(t, c, ws)
	expectCondition(t, c, ws, "Stalled", corev1.ConditionFalse)
}

func count(runs []string, command string) int {
	return len(runs) - len(slices.DeleteFunc(slices.Clone(runs), func(run string) bool { return run == command }))
}
