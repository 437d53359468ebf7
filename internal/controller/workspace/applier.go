// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonDrifted event.Reason = "DetectedDrift"

// An applier applies the plan of the planner.
type applier struct {
	*pass

	cli     applyCLI
	state   stateReader
	locks   *locker
	guard   *stateGuard
	unsaved *unsavedState

	// plan is the one to apply. exists says whether the planner has found that something exists.
	plan   *terraform.Plan
	exists bool

	// done says what the apply has done, or is empty without one.
	done string

	// left is the state that a failed apply has left, or nil if it is not known.
	left *terraform.State
}

// An applyCLI applies plans.
type applyCLI interface {
	progressCLI

	Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.Plan) error, progress func(terraform.Progress)) (*terraform.Applied, error)
	Source() string
	WhyNewPlan() string
}

// Create applies the plan that was made when the connector connected.
func (a *applier) Create(ctx context.Context, ws workspace.Workspace) (managed.ExternalCreation, error) {
	before := ws.GetOwnership()

	if err := a.announce(ctx, ws); err != nil {
		// Nothing was created. A begun creation of which this disk has no run record counts as a lost
		// state.
		a.restoreOwnership(ctx, ws, before)

		return managed.ExternalCreation{}, a.failed(ws, err)
	}

	o, err := a.apply(ctx, ws, reasonCreated)
	if err != nil {
		a.withdrawCreation(ctx, ws, before, err)

		return managed.ExternalCreation{}, a.failed(ws, err)
	}

	details, err := a.reportApplied(ctx, ws, o)

	return managed.ExternalCreation{ConnectionDetails: details}, err
}

// Update applies the plan that was made when the connector connected.
func (a *applier) Update(ctx context.Context, ws workspace.Workspace) (managed.ExternalUpdate, error) {
	// The managed reconciler calls Update for a resource that does not exist if it may not create
	// it.
	if !a.exists {
		return managed.ExternalUpdate{}, a.failed(ws, errors.New("there is nothing to update, and spec.managementPolicies does not allow to create anything: add Create, or set the annotation crossplane.io/external-name to the name of a Terraform workspace that exists"))
	}

	drift := a.plan != nil && a.plan.CorrectsDrift
	if drift {
		// It may change another attribute, and ignore the one that was changed.
		a.recorder.Event(ws, event.Normal(reasonDrifted, "Updating what was also changed outside of Terraform: "+describe(summarize(a.plan))))
	}

	o, err := a.apply(ctx, ws, reasonUpdated)
	if err != nil {
		switch {
		case errors.As(err, &refusedError{}):
			neverReady(ws)
		// An apply that found the state locked, or another one than was approved, has changed nothing.
		case terraform.IsLocked(err), errors.Is(err, errStaleApproval):
			notBegun(ws)
		default:
			applyFailed(ws)
		}

		return managed.ExternalUpdate{}, a.failed(ws, err)
	}

	if drift {
		a.Metrics.Drifted(driftCorrected)
	}

	details, err := a.reportApplied(ctx, ws, o)

	return managed.ExternalUpdate{ConnectionDetails: details}, err
}

// applied describes an apply that succeeded. The numbers of the CLI do not count what it has imported, moved or
// removed from the state.
func (a *applier) applied() string {
	s := summarize(a.plan)
	if s == nil || len(s.ResourceChanges) == 0 || a.cli.WhyNewPlan() != "" { // It may have done something else than that plan.
		return a.done
	}

	return a.done + ": " + strings.Join(s.ResourceChanges, ", ")
}

// reportApplied reports what was applied, and returns the connection details to publish.
func (a *applier) reportApplied(ctx context.Context, ws workspace.Workspace, o schedule.Observation) (managed.ConnectionDetails, error) {
	allowDestroy(ws, reasonPlanApplied)

	reported, err := a.report(ctx, ws, o)
	if err != nil {
		return nil, a.failed(ws, err)
	}

	return reported.ConnectionDetails, nil
}

// A refusedError says why an apply does not begin.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// apply applies the plan, records an Event with the supplied reason and returns the observation of the result.
func (a *applier) apply(ctx context.Context, ws workspace.Workspace, reason event.Reason) (schedule.Observation, error) {
	a.records.Applying(ws, a.secrets)

	if err := a.begin(ws, a.plan); err != nil {
		return schedule.Observation{}, refusedError{err}
	}

	a.announceUpdate(ctx, ws)

	again := func(p *terraform.Plan) error {
		if err := a.guard.lostState(ws, p.Prior); err != nil {
			return err
		}

		return a.begin(ws, p)
	}

	var applied *terraform.Applied

	planned := a.plan.Summary
	steps := &progress{total: planned.Add + planned.Change + planned.Destroy, planless: a.cli.WhyNewPlan() != ""}

	if planned == (terraform.Summary{}) && len(a.plan.Resources) == 0 {
		steps.outputs = a.plan.Outputs
	}

	err := a.locks.withLock(ctx, ws, func() (err error) {
		a.done, err = a.withProgress(ws, a.cli, steps, func(report func(terraform.Progress)) (err error) {
			applied, err = a.cli.Apply(ctx, a.plan, again, report)

			return err
		})

		return err
	})
	if err != nil {
		return schedule.Observation{}, a.applyEnded(ctx, ws, steps.began, err)
	}

	// Nothing else tells what was done if one of the next requests fails.
	a.recorder.Event(ws, event.Normal(reason, a.applied()))

	if err := a.unsaved.saveUsedState(ctx, ws); err != nil {
		a.unsaved.remember(ctx, ws)

		return schedule.Observation{}, err
	}

	o, err := a.observeApplied(ctx, applied)
	if err != nil {
		return schedule.Observation{}, err
	}

	o.Warnings = applied.Warnings.WithPlan(a.plan.Warnings).Texts()
	a.records.Observe(ws, o, a.secrets)

	return o, nil
}

// applyEnded saves, reports and owns what an apply that failed with err has left. began says whether it has changed
// anything. It returns err, with what a person can do.
func (a *applier) applyEnded(ctx context.Context, ws workspace.Workspace, began bool, err error) error {
	a.unsaved.remember(ctx, ws)

	a.left, err = a.unsaved.saveOrReport(ctx, ws, a.plan.Prior, err)

	if began {
		a.ownLeft(ctx, ws)
	}

	return err
}

// ownLeft records what a first apply that failed in the middle has left where there was no state before. Without the
// lineage, nothing would notice that another backend, entrypoint or external name leads to another place, where
// everything would be created once more. If the apply has locked the place, the state there is its own. Without a lock,
// it may be that of another Workspace that began to create.
func (a *applier) ownLeft(ctx context.Context, ws workspace.Workspace) {
	if a.plan.Prior.Lineage != "" || a.left == nil || a.left.Lineage == "" || a.left.Empty() {
		return
	}

	place, err := a.guard.cli.StatePlace()
	if err != nil {
		return
	}

	_, err = a.guard.contest(ctx, ws, a.left.Lineage)
	if foreign := (foreignStateError{}); err != nil && (!place.Locked || !errors.As(err, &foreign) || foreign.certain) {
		return
	}

	workspace.Own(ws, a.left.Lineage)
	a.showLeft(ws, a.left)
}

// begin records which state the apply of a plan is about to change. It returns an error if that state is not
// known to belong to the Workspace, or if the plan may destroy what the Workspace has taken over or imports.
func (a *applier) begin(ws workspace.Workspace, p *terraform.Plan) error {
	if s := p.Prior; s.Lineage != "" && !isBlank(s) && ws.GetOwnership().Lineage != s.Lineage {
		return errors.New("cannot apply: there is another state than before")
	}

	if err := keepsImports(p); err != nil {
		return err
	}

	if err := a.keepsTakenOver(ws, p); err != nil {
		return err
	}

	if err := a.checkApproved(ws, p, a.plan, a.cli.WhyNewPlan); err != nil {
		return err
	}

	a.plan = p

	return a.unsaved.writeRunRecord(ws, p.Prior, nil)
}

func (a *applier) observeApplied(ctx context.Context, applied *terraform.Applied) (schedule.Observation, error) {
	prior := a.plan.Prior
	state := summarizeState(prior)
	// OpenTofu does not count what a replacement has forgotten.
	added := applied.Add + applied.Import - applied.Destroy - max(applied.Forget, a.plan.Summary.Forget)

	// As many of them may have been gone before. The state counted these, and those that were added may be the same: the CLI
	// does not even raise the serial then. If more were added, it has.
	gone := prior.Gone
	if a.cli.WhyNewPlan() != "" {
		gone = prior.Managed // A plan that the apply has made may have found so.
	}

	// The next observation corrects the rest.
	if added < 0 || added > gone {
		state.Resources = max(state.Resources+added, 0)
	}

	// Another number of resources is another state, with a later serial. So an old copy is noticed even if "state push"
	// has raised its serial.
	if added > 0 && gone == 0 && state.Lineage != "" {
		state.Serial++
	}

	o := schedule.Observation{Source: a.cli.Source(), Exists: true, UpToDate: true, Outputs: applied.Outputs, State: &state}

	// The CLI does not print the values of sensitive outputs. It prints all outputs in one line,
	// which is dropped if it is too long: missing outputs do not mean that there are none.
	// The CLI counts a deposed object as a destroyed resource. If there was no state, its lineage is not known. Without
	// it, this Workspace would keep all others with the same external name from their states, also in other backends.
	lacks := applied.Outputs == nil || anySensitive(applied.Outputs) || prior.Deposed > 0
	if lacks || prior.Lineage == "" {
		pulled, err := a.state.State(ctx)

		switch {
		case err == nil:
			o.Outputs, o.State = pulled.Outputs, new(summarizeState(pulled))
		case lacks:
			return schedule.Observation{}, err
		}
	}

	// The state has not changed between the plan and the apply, so that no other Workspace
	// can have applied anything to it.
	if isBlank(prior) && a.cli.WhyNewPlan() == "" {
		o.CreatedLineage = prior.Lineage
	}

	return o, nil
}
