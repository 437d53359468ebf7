// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
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
		want   Facts
	}{
		"Settled": {reason: "The Workspace is settled.", ws: settled(), want: base},
		"New":     {reason: "There is no status.", ws: newWorkspace("a"), want: Facts{UID: "a", Interval: time.Minute, MayUpdate: true, MayDelete: true, Current: true}},
		"Deleted": {reason: "It is being deleted.", ws: settled(beingDeleted), want: but(func(f *Facts) { f.Deleted = true })},
		"Paused":  {reason: "A person has paused it.", ws: settled(annotatedWith(meta.AnnotationKeyReconciliationPaused, "true")), want: but(func(f *Facts) { f.Paused = true })},
		"Changed": {reason: "Ready is about another specification.", ws: settled(changedSpec), want: but(func(f *Facts) { f.Current = false })},
		"WasPaused": {
			reason: "The last reconcile found it paused.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.ReconcilePaused()) }),
			want:   but(func(f *Facts) { f.WasPaused, f.Synced = true, false }),
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
			want:   but(func(f *Facts) { f.Interval = MaxInterval }),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := Policy{Interval: time.Minute}.Facts(tc.ws)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Facts{}, "Desired")); diff != "" {
				t.Errorf("\n%s\nFacts(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(Desired(tc.ws), got.Desired); diff != "" {
				t.Errorf("\n%s\nFacts(...).Desired: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
