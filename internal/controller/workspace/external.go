// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	reasonPlanned event.Reason = "PlannedChanges"
	reasonDrifted event.Reason = "DetectedDrift"
	reasonWarned  event.Reason = "ReportedWarnings"
)

// What was done about a drift.
const (
	driftCorrected = "corrected"
	driftReported  = "reported" // by the condition Drifted
)

// An external is the client of one Terraform workspace during one reconcile.
type external struct {
	connector

	runner  workspaceRunner
	secrets *redact.Secrets

	// observation is the result of observe, or failure its error, which Observe returns.
	observation managed.ExternalObservation
	failure     error

	// plan is applied by Create or Update.
	plan *terraform.Plan

	// done says what the apply or the destroy of this reconcile has done, or is empty without one.
	done string

	// left is the state that a failed apply has left, or nil if it is not known.
	left *terraform.State

	// refused is the error of saveState after which the runs use the unsaved state, or nil.
	refused error
}

// Observe returns the result of the observation that the connector has made.
func (e *external) Observe(_ context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	switch {
	case errors.Is(e.failure, errNoSlot):
		return managed.ExternalObservation{}, e.failure
	case e.failure != nil:
		return managed.ExternalObservation{}, e.failed(ws, e.failure)
	// The managed reconciler marks it as a failure that nothing exists to observe, and polls.
	case !e.observation.ResourceExists && workspace.OnlyObserves(ws):
		e.succeeded(ws)
	}

	return e.observation, nil
}

// nothingFollows says whether the management policies forbid what an observation calls for.
func nothingFollows(ws workspace.Workspace, exists bool) bool {
	return !meta.WasDeleted(ws) && !workspace.MayUpdate(ws) && (exists || !workspace.MayCreate(ws))
}

// errNoSlot is the result of Observe for a change that has to wait for an apply slot. After a conflict,
// the managed reconciler requeues the Workspace, and neither records an Event nor writes the status.
var errNoSlot = kerrors.NewConflict(schema.GroupResource{Resource: "workspaces"}, "", errors.New("all apply slots are in use"))

func (e *external) observe(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	if meta.WasDeleted(ws) {
		return e.observeDeleted(ws), nil
	}

	if r := e.records.Get(ws); r.Observed() && e.holds(ws, r) {
		return e.report(ctx, ws, r.Observation)
	}

	suspect := e.mayBeLocked(ws)
	e.records.ForgetObservation(ws)

	o, err := e.planned(ctx, ws, suspect)
	if err != nil {
		return managed.ExternalObservation{}, err
	}

	e.records.Observe(ws, o)

	// Expected changes already hold an apply slot. Unexpected drift waits for one without blocking a
	// worker. The status is not written then, so that each Event would be repeated after the next plan.
	if !o.UpToDate && !nothingFollows(ws, o.Exists) && !e.slots.Acquire(schedule.RequestFor(ws)) {
		return managed.ExternalObservation{}, errNoSlot
	}

	// A creation follows at once. Its condition and its Event have the same list.
	creates := !o.Exists && !nothingFollows(ws, o.Exists)
	if o.Plan != nil && isNews(ws, o.Plan) && !creates {
		e.recorder.Event(ws, event.Normal(reasonPlanned, "Plan: "+describe(o.Plan)))
	}

	return e.report(ctx, ws, o)
}

func (e *external) holds(ws workspace.Workspace, r schedule.Record) bool {
	return e.policy.Stale(e.policy.Facts(ws), r, e.now()) == "" && e.runner.Incomplete() == nil && (workspace.Owns(ws) || workspace.OnlyObserves(ws))
}

// planned observes the infrastructure with a plan. suspect: see mayBeLocked.
func (e *external) planned(ctx context.Context, ws workspace.Workspace, suspect bool) (schedule.Observation, error) {
	if err := e.saveOrUseState(ctx, ws); err != nil {
		return schedule.Observation{}, err
	}

	p, locked, err := e.makePlan(ctx, ws, suspect)

	// Nothing else removes these states: a Workspace that was never observed, or may not be
	// deleted from, is deleted without a run.
	if (err != nil && workspace.IsStateless(ws)) || (workspace.OnlyObserves(ws) && (err != nil || p.Prior.Empty())) {
		e.removeEmptyStates(ctx, ws)
	}

	if err != nil {
		return schedule.Observation{}, e.withLostState(ws, err)
	}

	state := p.Prior

	if err := e.mayShrink(ws, p); err != nil {
		return schedule.Observation{}, err
	}

	if mayHideLoss(ws, p, state) {
		if err := e.lostState(ws, state); err != nil {
			return schedule.Observation{}, err
		}
	}

	if !workspace.OnlyObserves(ws) {
		if err := e.ownState(ctx, ws, state, p.Changes); err != nil {
			return schedule.Observation{}, err
		}
	}

	e.plan = p

	return schedule.Observation{
		Source: e.runner.Source(),
		// A module with nothing to create is complete without a state. Otherwise it would be
		// created over and over again.
		Exists:   !state.Empty() || !p.Changes,
		UpToDate: !p.Changes,
		Locked:   locked,
		Plan:     summarize(p),
		Outputs:  state.Outputs,
		State:    new(summarizeState(state)),
		Warnings: p.Warnings.Texts(),
	}, nil
}

// mayHideLoss says whether a state has to be compared with the state that the status records. A
// plan without changes is harmless, even if it was made from the wrong state. But if the status
// showed a state without resources, without a lineage, or with another one than that of the Workspace,
// it would hide the loss of the earlier state. The CLI plans with the resources of the old state and
// without its lineage, if the state is removed between its two reads (refreshState in OpenTofu's package
// states/remote).
func mayHideLoss(ws workspace.Workspace, p *terraform.Plan, s *terraform.State) bool {
	own := ws.GetOwnership().Lineage

	return p.Changes || s.Empty() || s.Lineage == "" || own != "" && s.Lineage != own
}

// makePlan returns a plan. locked says that a lock with a named holder prevented one that takes it.
func (e *external) makePlan(ctx context.Context, ws workspace.Workspace, suspect bool) (p *terraform.Plan, locked bool, err error) {
	// After an instance that died, a plan that takes the lock detects a lock that was left.
	// Otherwise that lock would stay until there is something to apply.
	if suspect {
		err = e.withLock(ctx, ws, func() (err error) {
			p, err = e.runner.Plan(ctx, true)

			return err
		})
		if !terraform.IsLocked(err) {
			return p, false, err
		}

		// Only such a lock is tried again. Without a holder it is never removed, and may mean that the
		// provider has no right to lock.
		_, locked = terraform.LockOf(err)
	}

	// If another process works with the state, a plan without a lock does not disturb it.
	err = e.retryAfterUnlock(ctx, ws, true, func() (err error) {
		p, err = e.runner.Plan(ctx, false)

		return err
	})

	return p, locked, err
}

// report writes an observation to the status.
func (e *external) report(ctx context.Context, ws workspace.Workspace, seen schedule.Observation) (managed.ExternalObservation, error) {
	details, err := connectionDetails(seen.Outputs)
	if err != nil {
		return managed.ExternalObservation{}, err
	}

	before := ws.GetObservation()
	o := before
	// A checksum states that the Workspace was reconciled with its state: see workspace.Owns.
	if seen.UpToDate && !workspace.OnlyObserves(ws) {
		o.Checksum = checksum(ws)
	}

	warned(e.recorder, ws, seen.Warnings)

	o.RemoteSource, o.Plan, o.Warnings = seen.Source, seen.Plan, seen.Warnings
	if !onlyObservesOther(ws, seen) {
		o.State = seen.State
	}

	ws.SetObservation(o)

	showOutputs(e.recorder, ws, visibleOutputs(seen.Outputs))
	e.showPlanTime(ws, before, seen.At)

	if drifted(ws, seen) {
		e.Metrics.Drifted(driftReported)
	}

	if workspace.AcceptsDestroy(ws, ws.GetOwnership().Lineage) {
		settle(ws, reasonAccepted)
	}

	if seen.CreatedLineage != "" && ws.GetOwnership().Lineage == "" {
		workspace.Own(ws, seen.CreatedLineage)
	}

	if seen.UpToDate {
		workspace.Succeed(ws, e.now())
		ready(ws)
		ws.SetObservedGeneration(ws.GetGeneration())
	}

	// What was observed is in the status even if the connection Secret cannot be read.
	details, err = e.toPublish(ctx, ws, details, seen.UpToDate)

	return managed.ExternalObservation{
		ResourceExists:    seen.Exists,
		ResourceUpToDate:  seen.UpToDate,
		ConnectionDetails: details,
	}, err
}

// showPlanTime records the time of a plan that changes the status in another way, too. Any other one would
// cost a write. at is zero for a plan of this reconcile.
func (e *external) showPlanTime(ws workspace.Workspace, before commonv1beta1.WorkspaceObservation, at time.Time) {
	o := ws.GetObservation()
	if ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue && equality.Semantic.DeepEqual(before, o) {
		return
	}

	if at.IsZero() {
		at = e.now()
	}

	o.LastPlanTime = new(metav1.NewTime(at))
	ws.SetObservation(o)
}

// checksum returns a digest of what people have written in the supplied Workspace, for its status.
// It must not depend on Secrets: who may read the Workspace could try all values of a short one.
func checksum(ws workspace.Workspace) string {
	return workdir.Digest(nil, schedule.Desired(ws), workdir.Encode(ws.GetParameters()))
}

// failed records the supplied error and returns it without secrets.
func (e *external) failed(ws workspace.Workspace, err error) error {
	err = redactErr(e.secrets, err)
	e.recordFailure(ws, err)

	return err
}

// Disconnect removes all secrets from the disk.
func (e *external) Disconnect(_ context.Context) error {
	return e.runner.Close()
}
