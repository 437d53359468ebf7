// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonWarned event.Reason = "ReportedWarnings"

// What was done about a drift.
const (
	driftCorrected = "corrected"
	driftReported  = "reported" // by the condition Drifted
)

// report writes an observation to the status.
func (ps *pass) report(ctx context.Context, ws workspace.Workspace, seen schedule.Observation) (managed.ExternalObservation, error) {
	details, err := connectionDetails(seen.Outputs)
	if err != nil {
		return managed.ExternalObservation{}, err
	}

	before := ws.GetObservation()
	o := before
	// A checksum states that the Workspace was reconciled with its state: see workspace.Owns.
	switch {
	case seen.UpToDate && !workspace.OnlyObserves(ws):
		o.Checksum = checksum(ws)
	case workspace.HasOnlyObserved(ws, seen.State):
		o.Checksum = ""
	}

	warned(ps.recorder, ws, seen.Warnings)

	o.RemoteSource, o.Plan, o.Warnings = seen.Source, seen.Plan, seen.Warnings
	if !onlyObservesOther(ws, seen) {
		o.State = seen.State
	}

	ws.SetObservation(o)

	showOutputs(ps.recorder, ws, visibleOutputs(seen.Outputs))
	ps.showPlanTime(ws, before, seen.At)

	if drifted(ws, seen) {
		ps.Metrics.Drifted(driftReported)
	}

	if workspace.AcceptsDestroy(ws, ws.GetOwnership().Lineage) {
		allowDestroy(ws, reasonAccepted)
	}

	if seen.CreatedLineage != "" && ws.GetOwnership().Lineage == "" {
		workspace.Own(ws, seen.CreatedLineage)
	}

	diedApplying(ws, before.Plan, seen.Awaiting)
	awaiting(ws, seen.Awaiting, seen.Plan != nil && seen.Plan.ID != "")

	ps.hideOldPlan(ctx, ws, before.Plan, seen)

	if seen.UpToDate {
		workspace.Succeed(ws, ps.now())
		ready(ws)
		ws.SetObservedGeneration(ws.GetGeneration())
	}

	// What was observed is in the status even if the connection Secret cannot be read.
	details, err = ps.toPublish(ctx, ws, details, seen.UpToDate)

	// Nothing follows what waits for approval.
	return managed.ExternalObservation{
		ResourceExists:    seen.Exists || seen.Awaiting != nil,
		ResourceUpToDate:  seen.UpToDate || seen.Awaiting != nil,
		ConnectionDetails: details,
	}, err
}

// showPlanTime records the time of a plan that changes the status in another way, too. Any other one would
// cost a write. at is zero for a plan of this reconcile.
func (ps *pass) showPlanTime(ws workspace.Workspace, before commonv1beta1.WorkspaceObservation, at time.Time) {
	o := ws.GetObservation()
	if ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue && equality.Semantic.DeepEqual(before, o) {
		return
	}

	if at.IsZero() {
		at = ps.now()
	}

	o.LastPlanTime = new(metav1.NewTime(at))
	ws.SetObservation(o)
}

// checksum returns a digest of what people have written in the supplied Workspace, for its status.
// It must not depend on Secrets: who may read the Workspace could try all values of a short one.
func checksum(ws workspace.Workspace) string {
	return workdir.Digest(nil, schedule.Desired(ws), workdir.Encode(ws.GetParameters()))
}

// reportFailed reports what is in the state after an apply or a destroy that began with the supplied state and
// ended with the supplied error: the plan of the next attempt may fail, so that nothing else would report it. It
// returns that state, or nil if it is not known.
func (ps *pass) reportFailed(ctx context.Context, ws workspace.Workspace, cli stateReader, before *terraform.State, err error) *terraform.State {
	ended := &terraform.Error{}
	// A killed CLI, or one that cannot write its state, may have created something that is not in it.
	if !errors.As(err, &ended) || ended.ExitCode < 0 || terraform.IsStateUnsaved(err) || terraform.LacksNamespace(err) || terraform.IsLocked(err) {
		return nil
	}

	state, err := cli.State(ctx)
	if err != nil {
		return nil
	}

	// Without a lineage, the state may be that of another process.
	if state.Lineage != "" && state.Lineage == before.Lineage {
		ps.showLeft(ws, state)
	}

	return state
}

// showLeft writes to the status what an apply or a destroy that failed has left in the state.
func (ps *pass) showLeft(ws workspace.Workspace, state *terraform.State) {
	workspace.SetState(ws, new(summarizeState(state)))
	showOutputs(ps.recorder, ws, visibleOutputs(state.Outputs))
}
