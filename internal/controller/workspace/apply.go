// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Create applies the plan that was made when the connector connected.
func (e *external) Create(ctx context.Context, ws workspace.Workspace) (managed.ExternalCreation, error) {
	before := ws.GetOwnership()

	if err := e.announce(ctx, ws); err != nil {
		// Nothing was created. A begun creation of which this disk has no run record counts as a lost
		// state.
		e.restoreOwnership(ctx, ws, before)

		return managed.ExternalCreation{}, e.failed(ws, err)
	}

	o, err := e.apply(ctx, ws)
	if err != nil {
		e.withdrawCreation(ctx, ws, before, err)

		return managed.ExternalCreation{}, e.failed(ws, err)
	}

	done := e.done
	if s := summarize(e.plan); s != nil && len(s.ResourceChanges) > 0 {
		done += ": " + strings.Join(s.ResourceChanges, ", ")
	}

	e.recorder.Event(ws, event.Normal(reasonCreated, done))

	details, err := e.reportApplied(ctx, ws, o)

	return managed.ExternalCreation{ConnectionDetails: details}, err
}

// announce records in the status that creation begins. Nothing may be created before: another
// instance that found an incomplete creation could not know which Workspace owns it. The managed
// reconciler writes the status only after Create, which may take long.
func (e *external) announce(ctx context.Context, ws workspace.Workspace) error {
	here, err := e.beganHere(ws)
	if err != nil {
		return err
	}

	// The status keeps the start of an earlier creation if it cannot be written.
	var replaced *metav1.Time
	if here {
		replaced = ws.GetOwnership().CreationStarted
	}

	prior := e.plan.Prior
	workspace.BeginCreation(ws, summarizeState(prior), e.now())

	// The run record is written first: a disk without it is not the one on which creation began.
	if err := e.writeRunRecord(ws, prior, replaced); err != nil {
		return err
	}

	s := summarize(e.plan)
	if s != nil {
		o := ws.GetObservation()
		o.Plan = s
		ws.SetObservation(o)
	}

	creating(ws, s)

	if err := e.kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(err, "cannot record that creation begins")
	}

	if e.runner.AppliesPlan() {
		return nil
	}

	// An apply that makes its own plan does not notice that the state has changed.
	if prior.Lineage == "" {
		return e.checkNoState(ctx)
	}

	_, err = e.contest(ctx, ws, prior.Lineage)

	return err
}

// checkNoState returns an error if another process has made a state since the plan.
func (e *external) checkNoState(ctx context.Context) error {
	s, err := e.runner.State(ctx)
	if err == nil && s.Lineage != "" {
		err = runner.ErrStateTaken
	}

	return err
}

// withdrawCreation restores the ownership after an apply that failed before it did anything. If the
// state was locked or has changed, another process is about to write to it, and what that process
// creates does not belong to this Workspace.
func (e *external) withdrawCreation(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership, err error) {
	if !terraform.IsLocked(err) && !errors.Is(err, runner.ErrStateTaken) && !e.createdNothing() {
		return
	}

	e.restoreOwnership(ctx, ws, before)
}

func (e *external) restoreOwnership(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership) {
	workspace.Restore(ws, before)

	// If this write fails, the next reconcile finds out which Workspace owns the state.
	_ = e.kube.Status().Update(ctx, ws)
}

// createdNothing says whether a failed apply is known to have created nothing. It says so only where
// the state is on a disk: without that disk, a creation that has begun could not continue unless a
// person accepts it.
func (e *external) createdNothing() bool {
	place, err := e.runner.StatePlace()

	return err == nil && place.OnDisk && e.left != nil && e.left.Empty()
}

// reportFailed reports what is in the state after an apply or a destroy that began with the supplied state and
// ended with the supplied error: the plan of the next attempt may fail, so that nothing else would report it.
func (e *external) reportFailed(ctx context.Context, ws workspace.Workspace, before *terraform.State, err error) {
	ended := &terraform.Error{}
	// A killed CLI, or one that cannot write its state, may have created something that is not in it.
	if !errors.As(err, &ended) || ended.ExitCode < 0 || terraform.IsStateUnsaved(err) || terraform.LacksNamespace(err) || terraform.IsLocked(err) {
		return
	}

	state, err := e.runner.State(ctx)
	if err != nil {
		return
	}

	e.left = state

	// Without a lineage, the state may be that of another process.
	if state.Lineage == "" || state.Lineage != before.Lineage {
		return
	}

	o := ws.GetObservation()
	o.State = new(summarizeState(state))
	ws.SetObservation(o)

	showOutputs(e.recorder, ws, visibleOutputs(state.Outputs))
}

// Update applies the plan that was made when the connector connected.
func (e *external) Update(ctx context.Context, ws workspace.Workspace) (managed.ExternalUpdate, error) {
	// The managed reconciler calls Update for a resource that does not exist if it may not create
	// it.
	if !e.observation.ResourceExists {
		return managed.ExternalUpdate{}, e.failed(ws, errors.New("there is nothing to update, and spec.managementPolicies does not allow to create anything: add Create, or set the annotation crossplane.io/external-name to the name of a Terraform workspace that exists"))
	}

	drift := e.plan != nil && len(e.plan.Drift) > 0
	if drift {
		e.recorder.Event(ws, event.Normal(reasonDrifted, "Correcting what was changed outside of Terraform: "+describe(summarize(e.plan))))
	}

	o, err := e.apply(ctx, ws)
	if err != nil {
		applyFailed(ws)

		return managed.ExternalUpdate{}, e.failed(ws, err)
	}

	e.recorder.Event(ws, event.Normal(reasonUpdated, e.done))

	if drift {
		e.Metrics.Drifted(driftCorrected)
	}

	details, err := e.reportApplied(ctx, ws, o)

	return managed.ExternalUpdate{ConnectionDetails: details}, err
}

// reportApplied reports what was applied, and returns the connection details to publish.
func (e *external) reportApplied(ctx context.Context, ws workspace.Workspace, o schedule.Observation) (managed.ConnectionDetails, error) {
	settle(ws, reasonPlanApplied)

	reported, err := e.report(ctx, ws, o)
	if err != nil {
		return nil, e.failed(ws, err)
	}

	return reported.ConnectionDetails, nil
}

// apply applies the plan and returns the observation of the result.
func (e *external) apply(ctx context.Context, ws workspace.Workspace) (schedule.Observation, error) {
	// From here on the previous observation is out of date, even if the apply fails.
	e.records.ForgetObservation(ws)

	if err := e.begin(ws, e.plan); err != nil {
		return schedule.Observation{}, err
	}

	again := func(p *terraform.Plan) error {
		if err := e.lostState(ws, p.Prior); err != nil {
			return err
		}

		return e.begin(ws, p)
	}

	var a *terraform.Applied

	planned := e.plan.Summary
	steps := &progress{total: planned.Add + planned.Change + planned.Destroy}

	if planned == (terraform.Summary{}) && len(e.plan.Resources)+len(e.plan.Drift) == 0 {
		steps.outputs = e.plan.Outputs
	}

	err := e.withLock(ctx, ws, func() error {
		return e.withProgress(ws, steps, func(report func(terraform.Progress)) (err error) {
			a, err = e.runner.Apply(ctx, e.plan, again, report)

			return err
		})
	})
	if err != nil {
		err = e.retrySaveState(ctx, ws, err)
		e.reportFailed(ctx, ws, e.plan.Prior, err)

		return schedule.Observation{}, err
	}

	if err := e.saveUsedState(ctx, ws); err != nil {
		return schedule.Observation{}, err
	}

	o, err := e.observeApplied(ctx, a)
	if err != nil {
		return schedule.Observation{}, err
	}

	o.Warnings = a.Warnings.WithPlan(e.plan.Warnings).Texts()
	e.records.Observe(ws, o)

	return o, nil
}

// begin records which state the apply of a plan is about to change. It returns an error if that state is not
// known to belong to the Workspace, or if the plan may destroy what the Workspace has taken over or imports.
func (e *external) begin(ws workspace.Workspace, p *terraform.Plan) error {
	if s := p.Prior; s.Lineage != "" && !isBlank(s) && ws.GetOwnership().Lineage != s.Lineage {
		return errors.New("cannot apply: there is another state than before")
	}

	if err := keepsImports(p); err != nil {
		return err
	}

	if err := e.keepsTakenOver(ws, p); err != nil {
		return err
	}

	e.plan = p

	return e.writeRunRecord(ws, p.Prior, nil)
}

func (e *external) observeApplied(ctx context.Context, a *terraform.Applied) (schedule.Observation, error) {
	prior := e.plan.Prior
	state := summarizeState(prior)
	// The next observation corrects the rest.
	state.Resources = max(state.Resources+a.Add+a.Import-a.Destroy-a.Forget, 0)

	o := schedule.Observation{Source: e.runner.Source(), Exists: true, UpToDate: true, Outputs: a.Outputs, State: &state}

	// The CLI does not print the values of sensitive outputs. It prints all outputs in one line,
	// which is dropped if it is too long: missing outputs do not mean that there are none.
	if a.Outputs == nil || anySensitive(a.Outputs) {
		pulled, err := e.runner.State(ctx)
		if err != nil {
			return schedule.Observation{}, err
		}

		o.Outputs, o.State = pulled.Outputs, new(summarizeState(pulled))
	}

	// The state has not changed between the plan and the apply, so that no other Workspace
	// can have applied anything to it.
	if isBlank(prior) && e.runner.AppliesPlan() {
		o.CreatedLineage = prior.Lineage
	}

	return o, nil
}
