// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// approvePlan is the annotation that approves a plan.
const approvePlan = "terraform.crossplane.io/approve-plan"

// startApproving approves whatever waits for approval, until stop is called.
func (w *workspaces) startApproving(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})

	go func() {
		defer close(done)

		w.approve(ctx)
	}()

	return func() {
		cancel()
		<-done
	}
}

func (w *workspaces) approve(ctx context.Context) {
	for wait.For(ctx, 300*time.Millisecond) == nil {
		for _, kind := range []schema.GroupVersionKind{clusterKind(), namespacedKind()} {
			seen := time.Now().UnixNano()

			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind)

			// The API server may be away.
			if w.kube.List(ctx, list) != nil {
				continue
			}

			for _, o := range list.Items {
				w.approveOne(ctx, o, seen)
			}
		}
	}
}

func (w *workspaces) approveOne(ctx context.Context, o unstructured.Unstructured, seen int64) {
	id, _, _ := unstructured.NestedString(o.Object, "status", "atProvider", "plan", "id")
	if conditionOf(&o, "AwaitingApproval").status != "True" || id == "" || o.GetAnnotations()[approvePlan] == id {
		return
	}

	// An answer may be lost, and the request not.
	w.mark(func() { w.approvals = append(w.approvals, approval{uid: string(o.GetUID()), time: seen}) })

	ws := &wanted{kind: o.GroupVersionKind(), name: o.GetName()}
	ws.namespace = o.GetNamespace()

	// It is approved again if that fails.
	_ = w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"uid": string(o.GetUID()), "annotations": map[string]any{approvePlan: id}}})
}

func TestUnapproved(t *testing.T) {
	t.Parallel()

	between := newRun("a#1", 6, 3000, 3900)
	runs := []run{newRun("a#1", 5, 1, 40), between, newRun("a#1", 7, 5000, 5900)}
	ledger := []entry{did(10, creating, "x", 5), did(20, created, "x", 5), did(5100, destroying, "x", 7)}
	want := []violation{{workspace: "ws-1", time: at(5100), instances: []string{"a#1"}}}
	state := runs[2].state

	cases := map[string]struct {
		reason    string
		guarded   string
		approvals []approval
		versions  []version
		want      []violation
	}{
		"NotGuarded": {reason: "Others destroy without approval.", guarded: "uid-2"},
		"None":       {reason: "Nobody has approved it.", guarded: "uid-1", want: want},
		"Approved":   {reason: "Somebody has.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(4000)}}},
		"Later":      {reason: "It was approved afterwards.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(5200)}}, want: want},
		"Other":      {reason: "Another Workspace was approved.", guarded: "uid-1", approvals: []approval{{uid: "uid-2", time: at(4000)}}, want: want},
		"Outdated":   {reason: "The state has changed since.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(1000)}}, versions: []version{{state: state, time: at(20), serial: 1}, {state: state, time: at(4000), serial: 2}}, want: want},
		"Before":     {reason: "It had changed before.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(4000)}}, versions: []version{{state: state, time: at(1000), serial: 2}}},
		"Again":      {reason: "An earlier run has changed nothing.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(1000)}}, versions: []version{{state: state, time: at(20), serial: 1}, {state: state, time: at(4000), serial: 1}}},
		"OtherState": {reason: "Another state has changed.", guarded: "uid-1", approvals: []approval{{uid: "uid-1", time: at(1000)}}, versions: []version{{state: "other", time: at(4000), serial: 2}}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectViolations(t, tc.reason, tc.want, unapproved(resources(ledger, nil, runs), map[string]bool{tc.guarded: true}, tc.approvals, runs, tc.versions, 0))
		})
	}
}

// TestGuarded ensures that some Workspaces are guarded, and their copies.
func TestGuarded(t *testing.T) {
	t.Parallel()

	var guarded []string

	for _, name := range []string{"ws-1", "ws-2", "ws-3", "ws-4", "ws-5", "ws-6", "ws-7", "ws-8", "ws-9", "ws-10", "ws-11", "ws-12"} {
		w := &wanted{name: name, traits: traits{flavour: plain}}
		c := &wanted{name: "copy", traits: traits{flavour: plain, of: name}}

		if w.guarded() != c.guarded() {
			t.Errorf("%s: want a copy to be as its original", name)
		}

		if w.guarded() {
			guarded = append(guarded, name)
		}
	}

	if len(guarded) == 0 || len(guarded) == 12 || slices.Contains(guarded, "") {
		t.Errorf("want some of the first Workspaces to be guarded, got %q", guarded)
	}
}
