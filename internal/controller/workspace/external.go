// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	reasonPlanned event.Reason = "PlannedChanges"
	reasonDrifted event.Reason = "DetectedDrift"
)

// An external is the client of one Terraform workspace during one reconcile.
type external struct {
	kube      client.Client
	record    event.Recorder
	runner    workspaceRunner
	secrets   *redact.Secrets
	memory    *memory
	schedule  *schedule
	staller   *staller
	conflicts *stateConflicts
	locks     statelock.Detector
	inherited func(o client.Object) bool

	// stop is the lifetime of all runs.
	stop context.Context //nolint:containedctx // See above.

	// inputs is the digest of everything that asks for a plan when it changes. Secrets are
	// part of it: it stays in memory. The status has the checksum, of their versions.
	inputs, checksum string

	// suspect says that somebody may have left a lock on the state.
	suspect bool

	// observed is what Observe returns.
	observed func() (managed.ExternalObservation, error)

	// plan that was made, and that Create or Update carry out, and the state that it was
	// made from.
	plan  *terraform.Plan
	prior *terraform.State
}

// begin observes, so that Observe can return it. It returns an error, and leaves
// nothing to be disconnected, if it does not get as far as to look at the
// infrastructure.
func (e *external) begin(ctx context.Context, ws workspace.Workspace) error {
	o, err := e.observe(ctx, ws)
	if !runner.IsUnprepared(err) {
		e.observed = func() (managed.ExternalObservation, error) { return o, err }

		return nil
	}

	if closeErr := e.runner.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}

	return redactErr(e.secrets, err)
}

// Observe returns what was observed when the connection began.
func (e *external) Observe(_ context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	o, err := e.observed()
	if err != nil {
		return managed.ExternalObservation{}, e.failed(ws, err)
	}

	// What is still to be done decides otherwise.
	if o.ResourceUpToDate || !mayUpdate(ws) {
		e.staller.succeeded(ws.GetUID())
	}

	return o, nil
}

// observe plans, unless the last look at the Workspace is still good: nothing that
// it depended on has changed, people have not changed the Workspace, and the next one is
// not due.
func (e *external) observe(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	if meta.WasDeleted(ws) {
		return e.observeDeleted(ctx, ws)
	}

	if l, ok := e.recall(ws); ok && e.runner.Incomplete() == nil && l.settles(ws) && l.inputs == e.inputs && !e.schedule.isDue(ws, l.at) && (workspace.Owns(ws) || workspace.OnlyObserves(ws)) && !wasPaused(ws) {
		return e.report(ctx, ws, l)
	}

	e.suspect = e.mayBeLocked(ws)
	e.memory.forget(ws.GetUID())

	l, err := e.look(ctx, ws)
	if err != nil {
		notReadyIfChanged(ws)

		return managed.ExternalObservation{}, err
	}

	e.memory.keep(ws.GetUID(), l)

	o, err := e.report(ctx, ws, l)

	// Who could have been expected to change has got a lane already. A drift waits
	// until there is one, and nobody with it.
	if err == nil && !l.upToDate && mayUpdate(ws) && !laneOf(ctx).enter() {
		o.ResourceExists, o.ResourceUpToDate = true, true
	}

	return o, err
}

// look at the real world with a plan.
func (e *external) look(ctx context.Context, ws workspace.Workspace) (look, error) {
	if err := e.saveState(ctx, ws); err != nil {
		return look{}, err
	}

	p, state, err := e.planned(ctx, ws)

	// Nothing else removes it: a Workspace that was never observed, or may not be deleted
	// from, goes without a run.
	if (err != nil && workspace.IsStateless(ws)) || (workspace.OnlyObserves(ws) && state.Empty()) {
		e.removeEmptyStates(ctx, ws)
	}

	if err != nil {
		return look{}, err
	}

	// A plan without changes does no harm, whatever it was made from.
	if p.Changes {
		if err := e.lostState(ws, state); err != nil {
			return look{}, err
		}
	}

	if !workspace.OnlyObserves(ws) {
		if err := e.ownState(ctx, ws, state, p.Changes); err != nil {
			return look{}, err
		}
	}

	e.plan, e.prior = p, state
	s := summarize(p)

	if s != nil && isNews(ws, s) {
		e.record.Event(ws, event.Normal(reasonPlanned, "Plan: "+describe(s)))
	}

	return look{
		inputs: e.inputs,
		at:     e.schedule.now(),
		source: e.runner.Source(),
		// A module that has nothing to create and is not there is complete. It
		// would be created over and over again otherwise.
		exists:   !state.Empty() || !p.Changes,
		upToDate: !p.Changes,
		summary:  s,
		outputs:  state.Outputs,
		state:    summarizeState(state),
	}, nil
}

// planned makes a plan and tells which state it is made from.
func (e *external) planned(ctx context.Context, ws workspace.Workspace) (p *terraform.Plan, state *terraform.State, err error) {
	plan := func(lock bool) error {
		run := e.unlocked
		if lock {
			run = e.locking
		}

		return run(ctx, ws, func() (err error) {
			p, state, err = e.runner.Plan(ctx, lock)

			return err
		})
	}

	// After an instance that died, a plan with a lock finds the one that may be left.
	// Otherwise it would stay until there is something to apply.
	err = plan(e.suspect)
	if e.suspect && terraform.IsLocked(err) {
		// It is somebody else's, and none of a plan's business.
		err = plan(false)
	}

	return p, state, err
}

// report what the supplied look saw.
func (e *external) report(ctx context.Context, ws workspace.Workspace, l look) (managed.ExternalObservation, error) {
	if l.told {
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}

	details, err := e.details(ctx, ws, l)
	if err != nil {
		return managed.ExternalObservation{}, err
	}

	o := ws.GetObservation()
	// A checksum says that the Workspace was reconciled with its state: see workspace.Owns.
	if l.upToDate && !workspace.OnlyObserves(ws) {
		o.Checksum = e.checksum
	}

	o.RemoteSource = l.source
	o.Plan = l.summary
	o.State = l.state
	ws.SetObservation(o)

	if err := showOutputs(e.record, ws, visibleOutputs(l.outputs)); err != nil {
		return managed.ExternalObservation{}, err
	}

	drifted(ws, l)
	e.recordCreation(ws, l)

	if l.upToDate {
		ready(ws)
		ws.SetObservedGeneration(ws.GetGeneration())
	}

	return managed.ExternalObservation{
		ResourceExists:    l.exists,
		ResourceUpToDate:  l.upToDate,
		ConnectionDetails: details,
	}, nil
}

// details to publish for what the supplied look saw.
func (e *external) details(ctx context.Context, ws workspace.Workspace, l look) (managed.ConnectionDetails, error) {
	details, err := connectionDetails(l.outputs)
	if err != nil {
		return nil, err
	}

	// The managed reconciler publishes before it updates. Outputs that are too large would
	// block the update that makes them smaller.
	publishable := checkSecretSize(details) == nil
	if !publishable && !l.upToDate && mayUpdate(ws) {
		return managed.ConnectionDetails{}, nil
	}

	return withVanished(ctx, e.kube, ws, details)
}

// Create applies what Observe planned.
func (e *external) Create(ctx context.Context, ws workspace.Workspace) (managed.ExternalCreation, error) {
	before := ws.GetOwnership()

	if err := e.announce(ctx, ws); err != nil {
		return managed.ExternalCreation{}, e.failed(ws, err)
	}

	l, err := e.apply(ctx, ws)
	if err != nil {
		e.disown(ctx, ws, before, err)

		return managed.ExternalCreation{}, e.failed(ws, err)
	}

	// The managed reconciler reads the status anew before it writes it. Should this fail, the
	// next look records the same, and until then creation has begun.
	e.recordCreation(ws, l)
	_ = e.kube.Status().Update(ctx, ws)

	details, err := e.details(ctx, ws, l)

	return managed.ExternalCreation{ConnectionDetails: details}, err
}

// announce what is about to be created, in the status: the managed reconciler writes none
// before Create returns, which may take long. Nothing may be created before that is
// recorded, because another instance that found half of it would not know whose it is.
func (e *external) announce(ctx context.Context, ws workspace.Workspace) error {
	workspace.BeginCreation(ws, *summarizeState(e.prior), e.schedule.now())

	// The note comes first: a disk without it is not the one that creation began on.
	if err := e.startFrom(ws, e.prior); err != nil {
		return err
	}

	c := xpv2.Creating().WithObservedGeneration(ws.GetGeneration())

	if s := summarize(e.plan); s != nil {
		o := ws.GetObservation()
		o.Plan = s
		ws.SetObservation(o)

		c = c.WithMessage("Applying: " + describe(s))
	}

	ws.SetConditions(c)

	if err := e.kube.Status().Update(ctx, ws); err != nil {
		return errors.Wrap(err, "cannot record that creation begins")
	}

	// An apply that makes its own plan does not notice that the state has changed.
	if e.prior.Lineage == "" || e.runner.AppliesPlan() {
		return nil
	}

	_, err := e.conflicts.contest(ctx, ws, e.prior.Lineage)

	return err
}

// disown takes back that creation has begun, after an apply that failed before it did
// anything. What another process is about to put into the state, which was locked or has
// changed, does not belong to this Workspace.
func (e *external) disown(ctx context.Context, ws workspace.Workspace, before commonv1beta1.Ownership, err error) {
	if !terraform.IsLocked(err) && !errors.As(err, &runner.StateTakenError{}) && !e.createdNothing(ctx, err) {
		return
	}

	workspace.Restore(ws, before)

	// Should this fail, the next look finds out whose the state is.
	_ = e.kube.Status().Update(ctx, ws)
}

// createdNothing says whether an apply that ended with the supplied error is known to have
// created nothing. It asks only where the state is on a disk: without that disk, a creation
// that has begun could not go on unless a person accepts it.
func (e *external) createdNothing(ctx context.Context, err error) bool {
	ended := &terraform.Error{}
	// What was killed may have created something that is not in the state.
	if !errors.As(err, &ended) || ended.ExitCode < 0 {
		return false
	}

	place, err := e.runner.StatePlace()
	if err != nil || !place.OnDisk {
		return false
	}

	state, err := e.runner.State(ctx)

	return err == nil && state.Empty()
}

// recordCreation records in the status what a look tells of the creation.
func (e *external) recordCreation(ws workspace.Workspace, l look) {
	o := ws.GetObservation()
	o.State = l.state
	ws.SetObservation(o)

	if l.created != "" && ws.GetOwnership().Lineage == "" {
		workspace.Own(ws, l.created)
	}

	if l.upToDate {
		workspace.Succeed(ws, e.schedule.now())
	}
}

// Update applies what Observe planned.
func (e *external) Update(ctx context.Context, ws workspace.Workspace) (managed.ExternalUpdate, error) {
	// The managed reconciler updates what does not exist if it may not create it.
	if l, ok := e.memory.recall(ws.GetUID()); ok && !l.exists {
		return managed.ExternalUpdate{}, e.failed(ws, errors.New("there is nothing to update, and spec.managementPolicies does not allow to create anything"))
	}

	if e.plan != nil && len(e.plan.Drift) > 0 {
		e.record.Event(ws, event.Normal(reasonDrifted, "Correcting what was changed outside of Terraform: "+describe(summarize(e.plan))))
	}

	l, err := e.apply(ctx, ws)
	if err != nil {
		ws.SetConditions(xpv2.Unavailable().WithMessage("The last update failed").WithObservedGeneration(ws.GetGeneration()))

		return managed.ExternalUpdate{}, e.failed(ws, err)
	}

	o, err := e.report(ctx, ws, l)

	return managed.ExternalUpdate{ConnectionDetails: o.ConnectionDetails}, err
}

// apply the plan and remember what there is now.
func (e *external) apply(ctx context.Context, ws workspace.Workspace) (look, error) {
	// Whatever happens now, what was seen before is no longer true.
	e.memory.forget(ws.GetUID())

	if err := mayApplyTo(ws, e.prior); err != nil {
		return look{}, err
	}

	if err := e.startFrom(ws, e.prior); err != nil {
		return look{}, err
	}

	again := func(found *terraform.State) error {
		if err := e.lostState(ws, found); err != nil {
			return err
		}

		if err := mayApplyTo(ws, found); err != nil {
			return err
		}

		return e.startFrom(ws, found)
	}

	var a *terraform.Applied

	err := e.locking(ctx, ws, func() (err error) {
		p := newProgress(e.record, ws)
		defer p.end()

		a, err = e.runner.Apply(ctx, e.plan, again, p.report)

		return err
	})
	if err != nil {
		e.holdOn(ctx, ws)

		return look{}, err
	}

	outputs := a.Outputs
	state := applied(summarizeState(e.prior), a.Summary)

	// The CLI does not print the values of sensitive outputs. It prints all outputs in one
	// line, which is dropped if it is too long: that is not the same as no outputs.
	if outputs == nil || anySensitive(outputs) {
		pulled, err := e.runner.State(ctx)
		if err != nil {
			return look{}, err
		}

		outputs, state = pulled.Outputs, summarizeState(pulled)
	}

	l := look{inputs: e.inputs, at: e.schedule.now(), source: e.runner.Source(), exists: true, upToDate: true, outputs: outputs, state: state}
	// The state has not changed between the plan and the apply, so that no other Workspace
	// can have applied anything to it.
	if isBlank(e.prior) && e.runner.AppliesPlan() {
		l.created = e.prior.Lineage
	}

	e.memory.keep(ws.GetUID(), l)
	e.staller.succeeded(ws.GetUID())

	return l, nil
}

// startFrom notes which state an apply is about to change.
func (e *external) startFrom(ws workspace.Workspace, s *terraform.State) error {
	e.prior = s

	return e.writeRunRecord(ws, s)
}

// failed counts the supplied error and returns it without secrets.
func (e *external) failed(ws workspace.Workspace, err error) error {
	err = redactErr(e.secrets, err)
	e.staller.failed(ws)

	return err
}

// Disconnect leaves nothing secret on disk.
func (e *external) Disconnect(_ context.Context) error {
	return e.runner.Close()
}
