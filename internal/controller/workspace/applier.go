// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
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

// announce records in the status that creation begins. Nothing may be created before: another
// instance that found an incomplete creation could not know which Workspace owns it. The managed
// reconciler writes the status only after Create, which may take long.
func (a *applier) announce(ctx context.Context, ws workspace.Workspace) error {
	here, err := a.guard.beganHere(ws)
	if err != nil {
		return err
	}

	// The status keeps the start of an earlier creation if it cannot be written.
	var replaced *metav1.Time
	if here {
		replaced = ws.GetOwnership().CreationStarted
	}

	prior := a.plan.Prior
	workspace.BeginCreation(ws, summarizeState(prior), a.now())

	// The run record is written first: a disk without it is not the one on which creation began.
	if err := a.unsaved.writeRunRecord(ws, prior, replaced); err != nil {
		return err
	}

	s := summarize(a.plan)
	if s != nil {
		o := ws.GetObservation()
		o.Plan = s
		ws.SetObservation(o)
	}

	creating(ws, s)

	if err := a.kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(err, "cannot record that creation begins")
	}

	if a.cli.WhyNewPlan() == "" {
		return nil
	}

	// An apply that makes its own plan does not notice that the state has changed.
	if prior.Lineage == "" {
		return a.checkNoState(ctx)
	}

	_, err = a.guard.contest(ctx, ws, prior.Lineage)

	return err
}

// announceUpdate shows an apply that was approved, and one that no change of the specification has caused. If this process died
// in the latter, the Workspace would seem to be settled: the next process would remove the lock, and repeat the apply, only at
// the next poll. Nothing depends on this write otherwise, so that a refused one prevents no correction.
func (a *applier) announceUpdate(ctx context.Context, ws workspace.Workspace) {
	ready, synced, plan := ws.GetCondition(xpv2.TypeReady), ws.GetCondition(xpv2.TypeSynced), ws.GetObservation().Plan
	settled := ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == ws.GetGeneration() && synced.Status == corev1.ConditionTrue

	if settled || plan != nil && plan.ID != "" {
		applying(ws, plan)

		_ = a.kube.Status().Update(ctx, ws)
	}
}

// checkNoState returns an error if another process has made a state since the plan.
func (a *applier) checkNoState(ctx context.Context) error {
	s, err := a.state.State(ctx)
	if err == nil && s.Lineage != "" {
		err = runner.ErrStateTaken
	}

	return err
}

// withdrawCreation restores the ownership after an apply that failed before it did anything. If the
// state was locked or has changed, another process is about to write to it, and what that process
// creates does not belong to this Workspace.
func (a *applier) withdrawCreation(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership, err error) {
	if !terraform.IsLocked(err) && !errors.Is(err, runner.ErrStateTaken) && !errors.As(err, &refusedError{}) && !a.createdNothing() {
		return
	}

	a.restoreOwnership(ctx, ws, before)
}

func (a *applier) restoreOwnership(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership) {
	workspace.Restore(ws, before)

	// If this write fails, the next reconcile finds out which Workspace owns the state.
	_ = a.kube.Status().Update(ctx, ws)
}

// createdNothing says whether a failed apply is known to have created nothing. It says so only where
// the state is on a disk: without that disk, a creation that has begun could not continue unless a
// person accepts it.
func (a *applier) createdNothing() bool {
	place, err := a.guard.cli.StatePlace()

	return err == nil && place.OnDisk && a.left != nil && a.left.Empty()
}

// Update applies the plan that was made when the connector connected.
func (a *applier) Update(ctx context.Context, ws workspace.Workspace) (managed.ExternalUpdate, error) {
	// The managed reconciler calls Update for a resource that does not exist if it may not create
	// it.
	if !a.exists {
		return managed.ExternalUpdate{}, a.failed(ws, errors.New("there is nothing to update, and spec.managementPolicies does not allow to create anything: add Create, or set the annotation crossplane.io/external-name to the name of a Terraform workspace that exists"))
	}

	drift := a.plan != nil && len(a.plan.Drift) > 0
	if drift {
		a.recorder.Event(ws, event.Normal(reasonDrifted, "Correcting what was changed outside of Terraform: "+describe(summarize(a.plan))))
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

	if planned == (terraform.Summary{}) && len(a.plan.Resources)+len(a.plan.Drift) == 0 {
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
		a.unsaved.remember(ctx, ws)

		err = a.unsaved.retrySaveState(ctx, ws, err)
		if !a.unsaved.isKept() {
			a.left = a.reportFailed(ctx, ws, a.state, a.plan.Prior, err)
		}

		if steps.began {
			a.ownLeft(ctx, ws)
		}

		return schedule.Observation{}, err
	}

	// Nothing else tells what was done if one of the next requests fails.
	a.recorder.Event(ws, event.Normal(reason, a.applied()))

	if err := a.unsaved.saveUsedState(ctx, ws); err != nil {
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
