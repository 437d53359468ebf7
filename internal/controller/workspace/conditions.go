// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	reasonPlanHasChanges  xpv2.ConditionReason = "PlanHasChanges"
	reasonUpToDate        xpv2.ConditionReason = "UpToDate"
	reasonNothingExists   xpv2.ConditionReason = "NothingExists"
	reasonRepeatedFailure xpv2.ConditionReason = "RepeatedFailure"
	reasonRetried         xpv2.ConditionReason = "Retried"
)

// maxDrifted is the largest number of drifted resources that a status lists.
const maxDrifted = 20

func ready(ws workspace.Workspace) {
	ws.SetConditions(xpv2.Available().WithObservedGeneration(ws.GetGeneration()))
}

func deleting(ws workspace.Workspace) {
	ws.SetConditions(xpv2.Deleting().WithObservedGeneration(ws.GetGeneration()))
}

// notReadyIfChanged marks a Workspace as not ready if its specification cannot be planned, unless
// it was ready with the same specification. In that case the infrastructure is still as
// specified, and only the plan failed.
func notReadyIfChanged(ws workspace.Workspace) {
	c := ws.GetCondition(xpv2.TypeReady)
	// An older version of this provider did not record the generation.
	if c.Status == corev1.ConditionTrue && c.ObservedGeneration != 0 && c.ObservedGeneration != ws.GetGeneration() {
		ws.SetConditions(xpv2.Unavailable().WithMessage("The changed specification cannot be planned").WithObservedGeneration(ws.GetGeneration()))
	}
}

// drifted sets the condition Drifted of a Workspace that differs and may not be updated, or clears
// it. It returns whether the condition has become True. Synced reports that nothing exists.
func drifted(ws workspace.Workspace, o schedule.Observation) bool {
	status, reason, message := corev1.ConditionFalse, reasonUpToDate, ""

	switch {
	case o.Exists && o.Plan != nil && !workspace.MayUpdate(ws):
		status, reason, message = corev1.ConditionTrue, reasonPlanHasChanges, describe(o.Plan)
	case ws.GetCondition(workspace.TypeDrifted).Status != corev1.ConditionTrue:
		// Most Workspaces never drift and have no such condition.
		return false
	case !o.Exists:
		reason = reasonNothingExists
	}

	return transition(ws, workspace.TypeDrifted, status, reason, message) && status == corev1.ConditionTrue
}

// transition sets a condition, and says whether its status has changed. If it has not, the time of
// the last transition stays: SetConditions alone would replace it if the message differs.
func transition(ws workspace.Workspace, t xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) bool {
	was := ws.GetCondition(t)
	c := xpv2.Condition{
		Type:               t,
		Status:             status,
		Reason:             reason,
		Message:            message,
		LastTransitionTime: metav1.Now(),
		ObservedGeneration: ws.GetGeneration(),
	}

	if was.Status == status {
		c.LastTransitionTime = was.LastTransitionTime
	}

	ws.SetConditions(c)

	return was.Status != status
}

// summarize returns a summary of a plan, or nil if there is no plan or it has no changes.
func summarize(p *terraform.Plan) *commonv1beta1.PlanSummary {
	if p == nil || !p.Changes {
		return nil
	}

	d := slices.Sorted(slices.Values(p.Drift))

	return &commonv1beta1.PlanSummary{
		Add:     p.Summary.Add,
		Change:  p.Summary.Change,
		Destroy: p.Summary.Destroy,
		Import:  p.Summary.Import,
		Summary: fmt.Sprintf("+%d ~%d -%d", p.Summary.Add, p.Summary.Change, p.Summary.Destroy),
		Drifted: d[:min(len(d), maxDrifted)],
	}
}

// isNews says whether a plan differs from the last one for the same specification.
func isNews(ws workspace.Workspace, s *commonv1beta1.PlanSummary) bool {
	tried := ws.GetCondition(xpv2.TypeSynced).ObservedGeneration == ws.GetGeneration()

	return !tried || !equality.Semantic.DeepEqual(s, ws.GetObservation().Plan)
}

// describe a summary in the words of the CLI.
func describe(s *commonv1beta1.PlanSummary) string {
	if s.Add+s.Change+s.Destroy+s.Import == 0 && len(s.Drifted) == 0 {
		return "changes that the summary of the plan does not count, such as those of outputs"
	}

	text := fmt.Sprintf("%d to add, %d to change, %d to destroy", s.Add, s.Change, s.Destroy)
	if s.Import > 0 {
		text = fmt.Sprintf("%d to import, %s", s.Import, text)
	}

	if len(s.Drifted) > 0 {
		text += "; changed outside of Terraform: " + strings.Join(s.Drifted, ", ")
	}

	return text
}

// recordFailure records that a reconcile of a Workspace failed. The managed reconciler writes the
// condition Stalled together with Synced, which contains the error.
//
// It logs when a Workspace becomes stalled, and notStalled logs when it no longer is: without
// --debug, the log has no other trace of a failure.
func (c *connector) recordFailure(ws workspace.Workspace, err error) {
	f := c.records.Fail(ws)

	locked := statelock.LockedError{}
	if errors.As(err, &locked) && !locked.Removal.IsZero() {
		f = c.records.RetryBy(ws, locked.Removal)
	}

	if !f.Stalled() {
		c.notStalled(ws)

		return
	}

	next := f.Retry.UTC().Format(time.RFC3339)
	if transition(ws, workspace.TypeStalled, corev1.ConditionTrue, reasonRepeatedFailure, fmt.Sprintf("Failed %d times in a row: it is tried less often, until it succeeds or changes. The next try is at %s. Synced has the last failure", f.Count, next)) {
		c.logFor(ws).Info("Workspace is stalled: it keeps failing, and is tried less often", "error", err, "next-try", next)
	}
}

// notStalled clears the condition of a Workspace that was stalled.
func (c *connector) notStalled(ws workspace.Workspace) {
	if ws.GetCondition(workspace.TypeStalled).Status == corev1.ConditionTrue && transition(ws, workspace.TypeStalled, corev1.ConditionFalse, reasonRetried, "") {
		c.logFor(ws).Info("Workspace is not stalled any more")
	}
}

func (c *connector) logFor(ws workspace.Workspace) logging.Logger {
	return c.log.WithValues("uid", ws.GetUID(), "namespace", ws.GetNamespace(), "name", ws.GetName())
}
