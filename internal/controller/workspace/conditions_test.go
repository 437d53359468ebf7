// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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
			reason: "What was changed elsewhere is listed in order.",
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
		"First":   {reason: "Nobody has heard of the first plan.", want: true},
		"Again":   {reason: "A plan that is not carried out is made again at every look.", was: plan, observed: 2},
		"Other":   {reason: "What is to be done is something else now.", was: &commonv1beta1.PlanSummary{Add: 2}, observed: 2, want: true},
		"Drift":   {reason: "There was nothing to do before.", observed: 2, want: true},
		"Changed": {reason: "It is the answer to a changed specification.", was: plan, observed: 1, want: true},
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
			reason:   "What does not exist cannot have drifted.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Plan: changes},
		},
		"ObserveNoMore": {
			reason:   "What had drifted and is gone does not count as up to date.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Plan: changes},
			want:     reasonNothingExists,
		},
		"ObserveOnlyUpToDate": {
			reason:   "It is over when there is none left.",
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
		"NeverDrifted": {
			reason:   "Nothing is said of a Workspace that is as it should be.",
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
				ws.SetConditions(xpv2.Condition{Type: workspace.TypeDrifted, Status: tc.was})
			}

			drifted(ws, tc.seen)

			if got := ws.GetCondition(workspace.TypeDrifted).Reason; got != tc.want {
				t.Errorf("\n%s\ndrifted(...): want reason %q, got %q", tc.reason, tc.want, got)
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
			reason: "What was ready is not what is asked for now.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(1)},
			want:   xpv2.ReasonUnavailable,
		},
		"Unchanged": {
			reason: "What was asked for is there. It is the look at it that failed.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(2)},
			want:   xpv2.ReasonAvailable,
		},
		"UnknownGeneration": {
			reason: "Nobody knows what was asked for when it was ready.",
			was:    []xpv2.Condition{xpv2.Available()},
			want:   xpv2.ReasonAvailable,
		},
		"New": {
			reason: "It has never been ready, and nothing is said about that.",
		},
		"Creating": {
			reason: "What it waits for is known already.",
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
