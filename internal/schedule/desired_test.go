// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestDesired(t *testing.T) {
	t.Parallel()

	annotate := func(key string) func(*clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { meta.AddAnnotations(ws, map[string]string{key: "a"}) }
	}
	label := func(key string) func(*clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { meta.AddLabels(ws, map[string]string{key: "a"}) }
	}

	cases := map[string]struct {
		reason string
		change func(ws *clusterv1beta1.Workspace)
		want   bool
	}{
		"Spec":         {reason: "A field that the plan does not depend on may still require a plan.", change: func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }, want: true},
		"Annotation":   {reason: "Any annotation of a person requires a plan.", change: annotate("example.org/refresh"), want: true},
		"Request":      {reason: "So does a request for a reconcile.", change: annotate(meta.AnnotationKeyReconcileRequestedAt), want: true},
		"ExternalName": {reason: "Another external name means another state.", change: annotate(meta.AnnotationKeyExternalName), want: true},
		"AcceptedLoss": {reason: "A person has accepted a loss that a failure reported.", change: annotate(workspace.AcceptLostStateAnnotationKey), want: true},
		"Label":        {reason: "Any label of a person requires a plan.", change: label("team"), want: true},
		"Shard":        {reason: "A move to another shard requires no plan.", change: label("terraform.crossplane.io/shard")},
		"Serving":      {reason: "A change of the serving instance requires no plan.", change: annotate("terraform.crossplane.io/abandoned-by")},
		"Creation": {
			reason: "The provider itself records the progress of a creation.",
			change: func(ws *clusterv1beta1.Workspace) {
				meta.SetExternalCreatePending(ws, time.Now())
				meta.SetExternalCreateSucceeded(ws, time.Now())
				meta.SetExternalCreateFailed(ws, time.Now())
			},
		},
		"Finalizer": {reason: "Finalizers only matter for the deletion.", change: func(ws *clusterv1beta1.Workspace) { meta.AddFinalizer(ws, "a") }},
		"Status": {
			reason: "People do not write the status.",
			change: func(ws *clusterv1beta1.Workspace) { ws.SetLastHandledReconcileAt("a") },
		},
		"NoAnnotations": {
			reason: "An empty set of annotations equals none.",
			change: func(ws *clusterv1beta1.Workspace) { ws.SetAnnotations(map[string]string{}) },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a")
			before := Desired(ws)
			tc.change(ws)

			if got := Desired(ws) != before; got != tc.want {
				t.Errorf("\n%s\nDesired(...): want changed %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestDesiredAmbiguity ensures that a label and an annotation of the same key and value have
// different digests.
func TestDesiredAmbiguity(t *testing.T) {
	t.Parallel()

	labelled, annotated := newWorkspace("a"), newWorkspace("a")
	meta.AddLabels(labelled, map[string]string{"a": "b"})
	meta.AddAnnotations(annotated, map[string]string{"a": "b"})

	for _, o := range []client.Object{labelled, annotated} {
		if Desired(o) == Desired(newWorkspace("a")) {
			t.Errorf("Desired(%v) is that of a Workspace without labels and annotations", o)
		}
	}

	if Desired(labelled) == Desired(annotated) {
		t.Error("Desired(...) is the same with a label and with an annotation")
	}
}
