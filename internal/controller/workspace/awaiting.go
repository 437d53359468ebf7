// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Reasons of the condition AwaitingApproval.
const (
	reasonPlanPending      xpv2.ConditionReason = "PlanPending"
	reasonApprovalOutdated xpv2.ConditionReason = "ApprovalOutdated"
	reasonPlanNotSaved     xpv2.ConditionReason = "PlanNotSaved"
	reasonDeletionPending  xpv2.ConditionReason = "DeletionPending"
	reasonApproved         xpv2.ConditionReason = "Approved"
	reasonNothingToApprove xpv2.ConditionReason = "NothingToApprove"
)

const (
	reasonAwaiting event.Reason = "AwaitingApproval"
	reasonApplying event.Reason = "ApprovedPlan"
)

func notSaved(why string) approval {
	return approval{waits: &schedule.Awaiting{Reason: reasonPlanNotSaved, Message: "What would be applied is not certain to be what was planned: " + why +
		". Nothing is applied. Correct that, or set approval to Never in spec.forProvider and in the ProviderConfig"}}
}

func planText(ws workspace.Workspace, p *terraform.Plan, id string) string {
	return fmt.Sprintf("Plan %s: %s. To apply exactly this plan: %s", id, describe(summarize(p)), howToApprove(ws, id))
}

// howToApprove returns the command with which a person approves a plan.
func howToApprove(ws workspace.Workspace, id string) string {
	name := ws.GetName()
	if ns := ws.GetNamespace(); ns != "" {
		name += " -n " + ns
	}

	return fmt.Sprintf("kubectl annotate --overwrite %s %s %s=%s", workspace.ResourceOf(ws), name, workspace.ApprovePlanAnnotationKey, id)
}

// announceWait records an Event about something that waits for approval, unless the status has it already.
func (ps *pass) announceWait(ws workspace.Workspace, a approval) {
	known := ""
	if p := ws.GetObservation().Plan; p != nil {
		known = p.ID
	}

	c := ws.GetCondition(workspace.TypeAwaitingApproval)
	if c.Status == corev1.ConditionTrue && known == a.id && c.Reason == a.waits.Reason {
		return
	}

	// An approval does not help then: a person has to change something else first.
	if a.waits.Reason == reasonPlanNotSaved {
		ps.recorder.Event(ws, event.Warning(reasonAwaiting, errors.New(a.waits.Message)))
	} else {
		ps.recorder.Event(ws, event.Normal(reasonAwaiting, a.waits.Message))
	}
}

// awaiting sets the condition AwaitingApproval, and Ready with it. A Workspace that never waited has no such condition.
func awaiting(ws workspace.Workspace, waits *schedule.Awaiting, approved bool) {
	switch {
	case waits != nil:
		transition(ws, workspace.TypeAwaitingApproval, corev1.ConditionTrue, waits.Reason, waits.Message)

		if !meta.WasDeleted(ws) {
			waiting(ws)
		}
	case ws.GetCondition(workspace.TypeAwaitingApproval).Status != corev1.ConditionTrue:
	case approved:
		transition(ws, workspace.TypeAwaitingApproval, corev1.ConditionFalse, reasonApproved, "")
	default:
		transition(ws, workspace.TypeAwaitingApproval, corev1.ConditionFalse, reasonNothingToApprove, "")
	}
}

// forgetPlan is for a failure: nothing reads the answer to a plan of before a deletion, or an edit, any more. The status has the plan
// of before an edit until the next one, and the text of that plan is in its Secret.
func forgetPlan(ws workspace.Workspace) {
	o, c := ws.GetObservation(), ws.GetCondition(workspace.TypeAwaitingApproval)

	switch deleted := meta.WasDeleted(ws); {
	case c.Status != corev1.ConditionTrue,
		deleted && o.Plan != nil && workspace.IsDeletion(o.Plan.ID),
		!deleted && c.ObservedGeneration == ws.GetGeneration():
		return
	case deleted:
		o.Plan = nil
		ws.SetObservation(o)
	}

	awaiting(ws, nil, false)
}

// diedApplying sets Ready if a process died in the apply of an approved plan, which the status has, and the rest waits: an apply that
// has ended leaves no plan, or a failure.
func diedApplying(ws workspace.Workspace, plan *commonv1beta1.PlanSummary, rest *schedule.Awaiting) {
	if rest != nil && plan != nil && plan.ID != "" && ws.GetCondition(workspace.TypeAwaitingApproval).Reason == reasonApproved && ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue {
		applyFailed(ws)
	}
}

// lastTryFailed precedes why a deletion that was approved has failed, whose rest waits for approval. Synced does not tell it any more:
// each later message gets it from the one before.
const lastTryFailed = ". The last try failed: "

// lastFailureIn returns what a message has after lastTryFailed, or nothing.
func lastFailureIn(message string) string {
	_, failure, _ := strings.Cut(message, lastTryFailed)

	return failure
}

// waitForDeletion reports a deletion that waits for approval, in the status and in the record of the Workspace.
func (ps *pass) waitForDeletion(ws workspace.Workspace, s *terraform.State, a approval) {
	was, synced := ws.GetCondition(workspace.TypeAwaitingApproval), ws.GetCondition(xpv2.TypeSynced)

	failure := lastFailureIn(was.Message)
	if was.Reason == reasonApproved && synced.Reason == xpv2.ReasonReconcileError && ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonDeleting {
		failure = synced.Message
	}

	if failure != "" {
		a.waits.Message += lastTryFailed + failure
	}

	ps.announceWait(ws, a)
	awaiting(ws, a.waits, false)

	o := ws.GetObservation()
	o.Plan = &commonv1beta1.PlanSummary{Destroy: s.Managed, Summary: shortSummary(0, 0, s.Managed), ID: a.id}
	ws.SetObservation(o)

	ps.records.Observe(ws, schedule.Observation{Exists: true, Plan: o.Plan, Awaiting: a.waits}, ps.secrets)
}
