// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		reason string
		plan   *terraform.Plan
		want   string
	}{
		"Counts": {
			reason: "A plan is described as the CLI does.",
			plan:   &terraform.Plan{Changes: true, Summary: terraform.Summary{Add: 1, Change: 2, Destroy: 3}},
			want:   "1 to add, 2 to change, 3 to destroy",
		},
		"Import": {
			reason: "Imports are mentioned if there are any.",
			plan:   &terraform.Plan{Changes: true, Summary: terraform.Summary{Import: 4}},
			want:   "4 to import, 0 to add, 0 to change, 0 to destroy",
		},
		"OutputsOnly": {
			reason: "A plan without resources is about outputs.",
			plan:   &terraform.Plan{Changes: true},
			want:   "only outputs change",
		},
		"Drift": {
			reason: "Resources that were changed outside of Terraform are listed in order.",
			plan:   &terraform.Plan{Changes: true, Drift: []string{"b.b", "a.a"}},
			want:   "0 to add, 0 to change, 0 to destroy; changed outside of Terraform: a.a, b.b",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, describe(summarize(tc.plan))); diff != "" {
				t.Errorf("\n%s\ndescribe(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSummarizeNothing(t *testing.T) {
	for _, p := range []*terraform.Plan{nil, {}} {
		if got := summarize(p); got != nil {
			t.Errorf("summarize(%v) of a plan with nothing to do: want nil, got %v", p, got)
		}
	}
}

func TestIsNews(t *testing.T) {
	plan := &commonv1beta1.PlanSummary{Add: 1}

	cases := map[string]struct {
		reason   string
		was      *commonv1beta1.PlanSummary
		observed int64
		want     bool
	}{
		"First":   {reason: "The first plan is new.", want: true},
		"Again":   {reason: "A plan that is not applied is made again by every observation.", was: plan, observed: 2},
		"Other":   {reason: "The plan has changed.", was: &commonv1beta1.PlanSummary{Add: 2}, observed: 2, want: true},
		"Drift":   {reason: "The last plan had no changes.", observed: 2, want: true},
		"Changed": {reason: "The plan is the first one of a changed specification.", was: plan, observed: 1, want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetGeneration(2)
			ws.SetObservation(commonv1beta1.WorkspaceObservation{Plan: tc.was})
			ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(tc.observed))

			if got := isNews(ws, plan); got != tc.want {
				t.Errorf("\n%s\nisNews(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDrifted(t *testing.T) {
	changes := &commonv1beta1.PlanSummary{Change: 1}
	past := metav1.NewTime(time.Unix(1, 0))

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		was      corev1.ConditionStatus
		seen     schedule.Observation
		want     xpv2.ConditionReason
	}{
		"ObserveOnly": {
			reason:   "A difference that will not be corrected is drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Exists: true, Plan: changes},
			want:     reasonPlanHasChanges,
		},
		"ObserveNothing": {
			reason:   "A resource that does not exist cannot drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Plan: changes},
		},
		"ObserveNoMore": {
			reason:   "A resource that had drifted and is deleted is not up to date.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Plan: changes},
			want:     reasonNothingExists,
		},
		"ObserveOnlyUpToDate": {
			reason:   "The condition ends with the drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Exists: true},
			want:     reasonUpToDate,
		},
		"MayUpdate": {
			reason:   "A difference that is about to be corrected is not worth a condition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll},
			seen:     schedule.Observation{Exists: true, Plan: changes},
		},
		"OtherDrift": {
			reason:   "Another plan is no transition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Exists: true, Plan: changes},
			want:     reasonPlanHasChanges,
		},
		"NeverDrifted": {
			reason:   "A Workspace that never drifted has no condition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Exists: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetManagementPolicies(tc.policies)

			if tc.was != "" {
				ws.SetConditions(xpv2.Condition{Type: workspace.TypeDrifted, Status: tc.was, LastTransitionTime: past})
			}

			drifted(ws, tc.seen)

			got := ws.GetCondition(workspace.TypeDrifted)
			if got.Reason != tc.want {
				t.Errorf("\n%s\ndrifted(...): want reason %q, got %q", tc.reason, tc.want, got.Reason)
			}

			if stays := got.Status == tc.was; stays != got.LastTransitionTime.Equal(&past) {
				t.Errorf("\n%s\ndrifted(...): the status stays: %t, and the last transition is at %s", tc.reason, stays, got.LastTransitionTime)
			}
		})
	}
}

func TestNotReadyIfChanged(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		was    []xpv2.Condition
		want   xpv2.ConditionReason
	}{
		"Changed": {
			reason: "The ready infrastructure is that of an older specification.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(1)},
			want:   xpv2.ReasonUnavailable,
		},
		"Unchanged": {
			reason: "The ready infrastructure is that of this specification. Only its observation failed.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(2)},
			want:   xpv2.ReasonAvailable,
		},
		"UnknownGeneration": {
			reason: "It is unknown which specification it was ready with.",
			was:    []xpv2.Condition{xpv2.Available()},
			want:   xpv2.ReasonAvailable,
		},
		"New": {
			reason: "It has never been ready and has no such condition yet.",
		},
		"Creating": {
			reason: "The condition already says why it is not ready.",
			was:    []xpv2.Condition{xpv2.Creating().WithObservedGeneration(1)},
			want:   xpv2.ReasonCreating,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetGeneration(2)
			ws.SetConditions(tc.was...)

			notReadyIfChanged(ws)

			if got := ws.GetCondition(xpv2.TypeReady).Reason; got != tc.want {
				t.Errorf("\n%s\nnotReadyIfChanged(...): want Ready for the reason %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
