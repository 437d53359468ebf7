// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

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

	// suspect says that a lock may have been left on the state, and locked that the state
	// was locked when it was planned from.
	suspect, locked bool

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
		locked:   e.locked,
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
	e.locked = e.suspect && terraform.IsLocked(err)
	if e.locked {
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
