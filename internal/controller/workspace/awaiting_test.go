// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestKilledInApprovedApply has the status that an approved apply begins with, and a rest that waits: the process died in it.
func TestKilledInApprovedApply(t *testing.T) {
	t.Parallel()

	ws := with(owner, func(ws *clusterv1beta1.Workspace) {
		o := ws.GetObservation()
		o.Plan = &commonv1beta1.PlanSummary{ID: "x-1"}
		ws.SetObservation(o)
		ws.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess(), xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionFalse, Reason: reasonApproved})
	})
	r := newAttempt(t, ws)

	o := schedule.Observation{Exists: true, Plan: &commonv1beta1.PlanSummary{ID: "x-2"}, Awaiting: &schedule.Awaiting{Reason: reasonApprovalOutdated}}
	if _, err := r.report(t.Context(), r.ws, o); err != nil {
		t.Fatal(err)
	}

	if c := r.ws.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || c.Message != restWaits {
		t.Errorf("want Ready False with %q, got %s: %s", restWaits, c.Status, c.Message)
	}
}

// TestFailedDeletionWithPlan ensures that a deletion which fails asks for no answer to a plan of before, and still for that to itself.
func TestFailedDeletionWithPlan(t *testing.T) {
	t.Parallel()

	for id, want := range map[string]corev1.ConditionStatus{"d-1": corev1.ConditionFalse, "": corev1.ConditionFalse, "x-1": corev1.ConditionTrue} {
		r := newAttempt(t, with(owner, deleted, func(ws *clusterv1beta1.Workspace) {
			o := ws.GetObservation()
			o.Plan = &commonv1beta1.PlanSummary{ID: id}
			ws.SetObservation(o)
			ws.SetConditions(xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionTrue, Reason: reasonApprovalOutdated})
		}))
		r.approves = commonv1beta1.ApprovalDestroy
		r.runner.stateErr = errors.New("boom")

		if _, err := r.Delete(t.Context(), r.ws); err == nil {
			t.Fatal("want an error")
		}

		if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Status != want {
			t.Errorf("a plan with the ID %q: want AwaitingApproval %s, got %s", id, want, c.Status)
		}

		if p := r.ws.GetObservation().Plan; (p != nil) != (want == corev1.ConditionTrue) {
			t.Errorf("a plan with the ID %q: it is in the status: %t", id, p != nil)
		}
	}
}

// TestFailedEditWithPlan ensures that an edit which fails asks for no answer to the plan of before.
func TestFailedEditWithPlan(t *testing.T) {
	t.Parallel()

	for planned, want := range map[int64]corev1.ConditionStatus{1: corev1.ConditionFalse, 2: corev1.ConditionTrue} {
		r := newAttempt(t, with(owner))
		r.ws.SetGeneration(2)

		o := r.ws.GetObservation()
		o.Plan = &commonv1beta1.PlanSummary{ID: "d-1", Secret: "ns/plan"}
		r.ws.SetObservation(o)
		r.ws.SetConditions(xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionTrue, Reason: reasonPlanPending, ObservedGeneration: planned})

		r.recordFailure(r.ws, errors.New("boom"))

		if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Status != want {
			t.Errorf("a plan of generation %d: want AwaitingApproval %s, got %s", planned, want, c.Status)
		}

		// Its text is removed from this Secret with the next plan.
		if r.ws.GetObservation().Plan == nil {
			t.Errorf("a plan of generation %d: want it in the status", planned)
		}
	}
}
