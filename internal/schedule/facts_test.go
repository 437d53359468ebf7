// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestFacts(t *testing.T) {
	t.Parallel()

	base := Facts{UID: "a", Interval: time.Minute, MayUpdate: true, MayDelete: true, Owns: true, Ready: true, Synced: true, Current: true, Complete: true}
	but := func(change func(f *Facts)) Facts {
		f := base
		change(&f)

		return f
	}
	observation := func(change func(o *commonv1beta1.WorkspaceObservation)) func(ws *clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) {
			o := ws.GetObservation()
			change(&o)
			ws.SetObservation(o)
		}
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace

		// policies says that management policies are enabled.
		policies bool
		want     Facts
	}{
		"Settled": {reason: "The Workspace is settled.", ws: settled(), want: base},
		"New":     {reason: "There is no status.", ws: newWorkspace("a"), want: Facts{UID: "a", Interval: time.Minute, MayUpdate: true, MayDelete: true, Current: true}},
		"Deleted": {reason: "It is being deleted.", ws: settled(beingDeleted), want: but(func(f *Facts) { f.Deleted = true })},
		"Paused":  {reason: "A person has paused it.", ws: settled(annotatedWith(meta.AnnotationKeyReconciliationPaused, "true")), want: but(func(f *Facts) { f.Paused = true })},
		"PausedByPolicies": {
			reason:   "A person has paused it with an empty set of management policies.",
			ws:       settled(func(ws *clusterv1beta1.Workspace) { ws.SetManagementPolicies(xpv2.ManagementPolicies{}) }),
			policies: true,
			want:     but(func(f *Facts) { f.Paused = true }),
		},
		"NoPolicies": {
			reason: "Without the feature, an empty set does not pause.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetManagementPolicies(xpv2.ManagementPolicies{}) }),
			want:   base,
		},
		"AllPolicies": {
			reason: "The default set does not pause.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionAll})
			}),
			policies: true,
			want:     base,
		},
		"Changed": {reason: "Ready is about another specification.", ws: settled(changedSpec), want: but(func(f *Facts) { f.Current = false })},
		"WasPaused": {
			reason: "The last reconcile found it paused.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.ReconcilePaused()) }),
			want:   but(func(f *Facts) { f.WasPaused, f.Synced = true, false }),
		},
		"SaysWhy": {
			reason: "The status names what pauses it.",
			ws: settled(annotatedWith(meta.AnnotationKeyReconciliationPaused, "true"), func(ws *clusterv1beta1.Workspace) {
				ws.SetConditions(xpv2.ReconcilePaused().WithMessage(workspace.WhyPaused(ws)))
			}),
			want: but(func(f *Facts) { f.Paused, f.WasPaused, f.SaysWhy, f.Synced = true, true, true, false }),
		},
		"OtherPause": {
			reason: "The status names an annotation that is gone.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetConditions(xpv2.ReconcilePaused().WithMessage("Reconciliation is paused, also a deletion: the annotation crossplane.io/paused is true"))
				ws.SetManagementPolicies(xpv2.ManagementPolicies{})
			}),
			policies: true,
			want:     but(func(f *Facts) { f.Paused, f.WasPaused, f.Synced = true, true, false }),
		},
		"Requested": {
			reason: "A person asks for a reconcile.",
			ws:     settled(annotatedWith(meta.AnnotationKeyReconcileRequestedAt, "now")),
			want:   but(func(f *Facts) { f.Requested = true }),
		},
		"Handled": {
			reason: "The request of a person was handled.",
			ws: settled(annotatedWith(meta.AnnotationKeyReconcileRequestedAt, "now"), func(ws *clusterv1beta1.Workspace) {
				ws.SetLastHandledReconcileAt("now")
			}),
			want: base,
		},
		"Observer": {
			reason: "It only observes.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
			}),
			want: but(func(f *Facts) { f.OnlyObserves, f.MayUpdate, f.MayDelete, f.Owns = true, false, false, false }),
		},
		"NoUpdates": {
			reason: "It may only create and delete.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionCreate, xpv2.ManagementActionDelete})
			}),
			want: but(func(f *Facts) { f.MayUpdate = false }),
		},
		"Orphans": {
			reason: "Its infrastructure is to stay.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetDeletionPolicy(xpv2.DeletionOrphan) }),
			want:   but(func(f *Facts) { f.MayDelete = false }),
		},
		"Drifted": {
			reason: "The drift is shown.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetConditions(xpv2.Condition{Type: workspace.TypeDrifted, Status: "True"})
			}),
			want: but(func(f *Facts) { f.Drifted = true }),
		},
		"NoChecksum": {
			reason: "Another version of the provider has written the status.",
			ws:     settled(observation(func(o *commonv1beta1.WorkspaceObservation) { o.Checksum = "" })),
			want:   but(func(f *Facts) { f.Complete, f.Owns = false, false }),
		},
		"NoState": {
			reason: "The recorded state is incomplete.",
			ws:     settled(observation(func(o *commonv1beta1.WorkspaceObservation) { o.State = nil })),
			want:   but(func(f *Facts) { f.Complete = false }),
		},
		"Plan": {
			reason: "The last plan had changes.",
			ws:     settled(observation(func(o *commonv1beta1.WorkspaceObservation) { o.Plan = &commonv1beta1.PlanSummary{} })),
			want:   but(func(f *Facts) { f.Complete = false }),
		},
		"Interval": {
			reason: "A Workspace may set its own interval.",
			ws:     settled(annotatedWith(meta.AnnotationKeyPollInterval, "10s")),
			want:   but(func(f *Facts) { f.Interval = 10 * time.Second }),
		},
		"IntervalTooShort": {
			reason: "An interval that would keep a worker busy is extended.",
			ws:     settled(annotatedWith(meta.AnnotationKeyPollInterval, "1ms")),
			want:   but(func(f *Facts) { f.Interval = MinInterval }),
		},
		"IntervalTooLong": {
			reason: "The times of the polls of the longest duration would overflow.",
			ws:     settled(annotatedWith(meta.AnnotationKeyPollInterval, time.Duration(math.MaxInt64).String())),
			want:   but(func(f *Facts) { f.Interval = maxInterval }),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := Policy{Interval: time.Minute, ManagementPolicies: tc.policies}.Facts(tc.ws)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Facts{}, "Desired")); diff != "" {
				t.Errorf("\n%s\nFacts(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(Desired(tc.ws), got.Desired); diff != "" {
				t.Errorf("\n%s\nFacts(...).Desired: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

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
		"Accepted":     {reason: "A person has accepted what a failure reported.", change: annotate(workspace.AcceptTakenOverStateAnnotationKey), want: true},
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

func TestUrgent(t *testing.T) {
	t.Parallel()

	failed := func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.ReconcileError(context.Canceled).WithObservedGeneration(1))
	}
	requested := annotatedWith(meta.AnnotationKeyReconcileRequestedAt, "now")

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   queue.Priority
	}{
		"New":     {reason: "A person waits for it.", ws: newWorkspace("a"), want: queue.Urgent},
		"Settled": {reason: "It is polled.", ws: settled()},
		"Changed": {reason: "This specification was never tried.", ws: settled(changedSpec), want: queue.Urgent},
		"Deleted": {reason: "A person waits until it is gone.", ws: settled(beingDeleted), want: queue.Urgent},
		"NotReady": {
			reason: "It is being created.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.Creating()) }),
			want:   queue.Urgent,
		},
		"Failed":             {reason: "It was tried, and others do not wait for the retry.", ws: settled(failed)},
		"FailedDeleted":      {reason: "The same is true when it is being deleted.", ws: settled(failed, beingDeleted)},
		"FailedChanged":      {reason: "The change may fix it.", ws: settled(failed, changedSpec), want: queue.Urgent},
		"Requested":          {reason: "A person asked for it.", ws: settled(requested), want: queue.Urgent},
		"FailedAndRequested": {reason: "A person asked for it.", ws: settled(failed, requested), want: queue.Urgent},
		"Handled": {
			reason: "The request was handled.",
			ws:     settled(requested, func(ws *clusterv1beta1.Workspace) { ws.SetLastHandledReconcileAt("now") }),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Priority); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want priority, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTenant(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     workspace.Workspace
		want   string
	}{
		"Namespace": {
			reason: "A namespace is one tenant, regardless of ProviderConfigs.",
			ws:     &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}},
			want:   "ns",
		},
		"ProviderConfig": {
			reason: "Without a namespace, all Workspaces of one ProviderConfig are a tenant.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetProviderConfigReference(&xpv2.Reference{Name: "config"})
			}),
			want: "config",
		},
		"None": {reason: "There may be none yet.", ws: settled()},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Tenant); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want tenant, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
