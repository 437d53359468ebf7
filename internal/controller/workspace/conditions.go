// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

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

// maxCause is the length in bytes of the cause in the condition Stalled. Synced has all of it.
const maxCause = 200

// notApplied says why the changes in the condition Drifted stay: nothing else shows that.
const notApplied = "; not applied: spec.managementPolicies does not contain Update"

// drifted sets the condition Drifted of a Workspace that differs and may not be updated, or clears
// it. It returns whether the condition has become True. Synced reports that nothing exists.
func drifted(ws workspace.Workspace, o schedule.Observation) bool {
	status, reason, message := corev1.ConditionFalse, reasonUpToDate, ""

	switch {
	case o.Exists && o.Plan != nil && !workspace.MayUpdate(ws):
		status, reason, message = corev1.ConditionTrue, reasonPlanHasChanges, describe(o.Plan)+notApplied
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

// stamp sets a condition for the current generation, also in place of one that an older version of the provider has written
// without a generation. SetConditions takes the two for equal, so that Ready would never be about the current generation.
func stamp(ws workspace.Workspace, c xpv2.Condition) { stampFor(ws, c, ws.GetGeneration()) }

func stampFor(ws workspace.Workspace, c xpv2.Condition, generation int64) {
	c = c.WithObservedGeneration(generation)

	if was := ws.GetCondition(c.Type); was.Equal(c) {
		c.LastTransitionTime = was.LastTransitionTime
		ws.SetConditions(xpv2.Condition{Type: c.Type}) // It differs from c.
	}

	ws.SetConditions(c)
}

// summarize returns a summary of a plan, or nil if there is no plan or it has no changes.
func summarize(p *terraform.Plan) *commonv1beta1.PlanSummary {
	if p == nil || !p.Changes {
		return nil
	}

	s := &commonv1beta1.PlanSummary{
		Add:           p.Summary.Add,
		Change:        p.Summary.Change,
		Destroy:       p.Summary.Destroy,
		Import:        p.Summary.Import,
		Summary:       shortSummary(p.Summary.Add, p.Summary.Change, p.Summary.Destroy),
		OutputChanges: p.Outputs,
		Drifted:       p.Drift,
	}

	for _, c := range p.Resources {
		s.ResourceChanges = append(s.ResourceChanges, c.String())
	}

	if p.MoreResources > 0 {
		s.ResourceChanges = append(s.ResourceChanges, fmt.Sprintf("and %d more", p.MoreResources))
	}

	return s
}

// shortSummary returns the numbers of a plan for a column of kubectl.
func shortSummary(add, change, destroy int) string {
	return fmt.Sprintf("+%d ~%d -%d", add, change, destroy)
}

// isNews says whether a plan differs from the last one for the same specification.
func isNews(ws workspace.Workspace, s *commonv1beta1.PlanSummary) bool {
	tried := ws.GetCondition(xpv2.TypeSynced).ObservedGeneration == ws.GetGeneration()

	return !tried || !equality.Semantic.DeepEqual(s, ws.GetObservation().Plan)
}

// describe a summary in the words of the CLI.
func describe(s *commonv1beta1.PlanSummary) string {
	text := fmt.Sprintf("%d to add, %d to change, %d to destroy", s.Add, s.Change, s.Destroy)

	switch nothing := s.Add+s.Change+s.Destroy+s.Import+len(s.ResourceChanges) == 0; {
	case nothing && len(s.OutputChanges) > 0:
		text = "only outputs change: " + strings.Join(s.OutputChanges, ", ")
	case nothing && len(s.Drifted) == 0:
		return "changes that the summary of the plan does not count"
	case s.Import > 0:
		text = fmt.Sprintf("%d to import, %s", s.Import, text)
	}

	if len(s.ResourceChanges) > 0 {
		text += ": " + strings.Join(s.ResourceChanges, ", ")
	}

	if len(s.Drifted) > 0 {
		text += "; changed outside of Terraform: " + strings.Join(s.Drifted, ", ")
	}

	return text
}

// digits matches what differs in the texts of a warning, such as a time.
var digits = regexp.MustCompile(`[0-9]+`)

// warned records an Event if there are warnings that the status does not have yet.
func warned(recorder event.Recorder, ws workspace.Workspace, warnings []string) {
	// A text that has a time or an age in it is another one at each poll.
	same := func(w, known string) bool {
		return digits.ReplaceAllString(w, "") == digits.ReplaceAllString(known, "")
	}
	isKnown := func(w string) bool {
		return slices.ContainsFunc(ws.GetObservation().Warnings, func(known string) bool { return same(w, known) })
	}

	if slices.ContainsFunc(warnings, func(w string) bool { return !isKnown(w) }) {
		recorder.Event(ws, event.Warning(reasonWarned, errors.New(strings.Join(warnings, "; "))))
	}
}

// recordFailure records that a reconcile of a Workspace failed. The managed reconciler writes the
// condition Stalled together with Synced, which contains the error.
//
// It logs when a Workspace becomes stalled, and notStalled logs when it no longer is: without
// --debug, the log has no other trace of a failure.
func (c *connector) recordFailure(ws workspace.Workspace, err error) {
	f := c.records.Fail(ws, kerrors.IsNotFound(err))

	// Deletion increases the generation without a change of the specification.
	if !meta.WasDeleted(ws) {
		changeFailed(ws)
	}

	forgetPlan(ws)

	locked := statelock.LockedError{}
	if errors.As(err, &locked) && !locked.Removal.IsZero() {
		f = c.records.RetryBy(ws, locked.Removal)
	}

	if !f.Stalled() {
		c.notStalled(ws)

		return
	}

	// Tools take a Workspace for one in progress until this is its generation. From then on, Stalled counts.
	ws.SetObservedGeneration(ws.GetGeneration())

	next := f.Retry.UTC()
	message := fmt.Sprintf("Failed %d times; next try %s. Cause: %s", f.Count, next.Format("15:04:05Z"), terraform.Truncate(err.Error(), maxCause))

	if transition(ws, workspace.TypeStalled, corev1.ConditionTrue, reasonRepeatedFailure, message) {
		c.logFor(ws).Info("Workspace is stalled: it keeps failing, and is tried less often", "error", err, "next-try", next.Format(time.RFC3339))
	}
}

// succeeded records that nothing is left to do for a Workspace.
func (c *connector) succeeded(ws workspace.Workspace) {
	c.records.Succeed(ws)
	c.notStalled(ws)

	if took, ok := c.records.Applied(ws); ok {
		c.Metrics.BecameReady(c.name, took)
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
