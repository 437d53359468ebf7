// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// All functions that set the condition Ready are in this file, except for that of the package unserved, for a
// Workspace without an instance. Ready is about the infrastructure, and Synced about the last reconcile: a
// failed plan leaves Ready as it is.

// ready is for a Workspace that is as its module asks for.
func ready(ws workspace.Workspace) { stamp(ws, xpv2.Available()) }

// creating is for a Workspace whose first apply begins. s may be nil.
func creating(ws workspace.Workspace, s *commonv1beta1.PlanSummary) {
	c := xpv2.Creating().WithObservedGeneration(ws.GetGeneration())
	if s != nil {
		c = c.WithMessage(applyingPrefix + describe(s))
	}

	ws.SetConditions(c)
}

// deleting is for a Workspace from the first attempt to destroy its infrastructure.
func deleting(ws workspace.Workspace) {
	ws.SetConditions(xpv2.Deleting().WithObservedGeneration(ws.GetGeneration()))
}

// Messages of Ready that the predicates below read back. The condition is the only record of what earlier reconciles, maybe of another
// process, have told: a new text needs its constant in these predicates. Otherwise what is over stays in Ready for ever, or a failed
// apply is forgotten while its rest waits.
const (
	applyingPrefix   = "Applying: "
	notObservedYet   = "Not observed yet: see Synced"
	planNotApplied   = "The plan was not applied: see Synced"
	lastChangeFailed = "The last change failed: see Synced"
	lastApplyFailed  = "The last apply failed: see Synced"
	restWaits        = "The last apply failed, and what is left to do waits: see AwaitingApproval, and the Events"
)

// refersToSynced says whether a condition Ready refers to a failure in Synced.
func refersToSynced(ready xpv2.Condition) bool {
	return slices.Contains([]string{notObservedYet, planNotApplied, lastChangeFailed, lastApplyFailed}, ready.Message)
}

// tellsOfFailedApply says whether a condition Ready tells that the last apply failed.
func tellsOfFailedApply(ready xpv2.Condition) bool {
	return ready.Message == lastApplyFailed || tellsThatRestWaits(ready)
}

// tellsThatRestWaits says whether a condition Ready tells that the rest of a failed apply waits for approval.
func tellsThatRestWaits(ready xpv2.Condition) bool { return ready.Message == restWaits }

// tellsOfUpdate says whether a condition Ready tells of an update in progress, see applying.
func tellsOfUpdate(ready xpv2.Condition) bool {
	return ready.Reason == xpv2.ReasonUnavailable && strings.HasPrefix(ready.Message, applyingPrefix)
}

// applyFailed is for a Workspace whose infrastructure may be anything between two specifications.
func applyFailed(ws workspace.Workspace) { unavailable(ws, lastApplyFailed) }

// changeFailed is for a Workspace whose reconcile failed. It stays ready if it was ready with the same
// specification. In that case the infrastructure is still as specified, and only the plan failed.
func changeFailed(ws workspace.Workspace) {
	c := ws.GetCondition(xpv2.TypeReady)
	if c.Status != corev1.ConditionTrue {
		return
	}

	// The existing provider records the generation only with a success. It is kept: this failure is the last trace of that.
	if synced := ws.GetCondition(xpv2.TypeSynced); c.ObservedGeneration == 0 && synced.Status == corev1.ConditionTrue {
		stampFor(ws, c, synced.ObservedGeneration)
		c = ws.GetCondition(xpv2.TypeReady)
	}

	if c.ObservedGeneration != 0 && c.ObservedGeneration != ws.GetGeneration() {
		unavailable(ws, lastChangeFailed)
	}
}

// neverReady is for a Workspace whose reconcile failed before anything was applied. Without the condition, tools
// show neither a value nor a reason.
func neverReady(ws workspace.Workspace) {
	was := ws.GetCondition(xpv2.TypeReady)
	// It was approved, and refused, or an edit of it has failed.
	refused := was.Reason == reasonWaits && ws.GetCondition(workspace.TypeAwaitingApproval).Status != corev1.ConditionTrue && ws.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcileError

	switch {
	case was.Status != corev1.ConditionUnknown && !isNotServed(ws) && !refused:
	case ws.GetObservation().Plan != nil:
		unavailable(ws, planNotApplied)
	default:
		unavailable(ws, notObservedYet)
	}
}

// served is for a Workspace that no instance served until now, which is new, or whose creation or reconcile has failed
// before. It has no other state of Ready while a difference may not be corrected: Synced has no failure any more.
func served(ws workspace.Workspace) {
	was, own := ws.GetCondition(xpv2.TypeReady), ws.GetOwnership()
	reported := ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue && ws.GetCondition(workspace.TypeDrifted).Status == corev1.ConditionTrue
	outdated := isNotServed(ws) || was.Status == corev1.ConditionUnknown || was.Reason == xpv2.ReasonCreating || refersToSynced(was) || saysThatItWaits(ws) || tellsOfUpdate(was)

	switch {
	// Something exists, so that what is left to create would be an update.
	case reported && outdated && own.CreationStarted != nil && own.CreationSucceeded == nil && own.TakenOverAt == nil:
		unavailable(ws, "The creation is not complete, and goes on only with Update in spec.managementPolicies: see Drifted")
	case reported && outdated, isNotServed(ws):
		unavailable(ws, "The plan has changes: see Drifted")
	}
}

// reasonWaits is the reason of Ready for a Workspace that waits for approval, and was not ready before.
const reasonWaits = xpv2.ConditionReason(workspace.TypeAwaitingApproval)

// waiting is for a Workspace whose plan waits for approval. One that is ready stays so, with the generation that it is
// ready for: who waits for a change goes on waiting.
func waiting(ws workspace.Workspace) {
	was := ws.GetCondition(xpv2.TypeReady)

	switch {
	case was.Status == corev1.ConditionTrue:
	// Nothing else says so: the plan that waits has succeeded.
	case tellsOfFailedApply(was):
		unavailable(ws, restWaits)
	default:
		c := xpv2.Unavailable().WithMessage("See the condition AwaitingApproval").WithObservedGeneration(ws.GetGeneration())
		c.Reason = reasonWaits
		ws.SetConditions(c)
	}
}

// saysThatItWaits says whether Ready refers to an approval that nothing waits for any more.
func saysThatItWaits(ws workspace.Workspace) bool {
	was := ws.GetCondition(xpv2.TypeReady)

	return (was.Reason == reasonWaits || tellsThatRestWaits(was)) && ws.GetCondition(workspace.TypeAwaitingApproval).Status != corev1.ConditionTrue
}

// applying is for a Workspace that has waited for the approval of an update, which begins.
func applying(ws workspace.Workspace, s *commonv1beta1.PlanSummary) {
	if saysThatItWaits(ws) {
		unavailable(ws, applyingPrefix+describe(s))
	}
}

// notBegun is for a Workspace whose approved update has not begun.
func notBegun(ws workspace.Workspace) {
	if tellsOfUpdate(ws.GetCondition(xpv2.TypeReady)) {
		unavailable(ws, planNotApplied)
	}
}

// isNotServed says whether Ready is what an instance has written that found no other to serve the Workspace.
func isNotServed(ws workspace.Workspace) bool {
	return ws.GetCondition(xpv2.TypeReady).Reason == workspace.ReasonNotServed
}

func unavailable(ws workspace.Workspace, message string) {
	ws.SetConditions(xpv2.Unavailable().WithMessage(message).WithObservedGeneration(ws.GetGeneration()))
}
