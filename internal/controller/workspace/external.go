// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// An external is the client of one Terraform workspace during one reconcile.
type external struct {
	session  *session
	memory   *memory
	schedule *schedule

	// inputs is the digest of everything that a plan depends on.
	inputs string

	// plan that Observe made and Create or Update carry out.
	plan *terraform.Plan
}

// Observe plans, unless the last look at the Workspace is still good: nothing that
// it depended on has changed and the next one is not due.
func (e *external) Observe(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	if meta.WasDeleted(ws) {
		return e.observeDeleted(ctx, ws)
	}

	if l, ok := e.memory.recall(ws.GetUID()); ok && l.upToDate && l.inputs == e.inputs && !e.schedule.isDue(ws, l.at) {
		return e.report(ws, l)
	}

	l, err := e.look(ctx)
	if err != nil {
		e.memory.forget(ws.GetUID())
		notReadyIfChanged(ws)

		return managed.ExternalObservation{}, err
	}

	e.memory.keep(ws.GetUID(), l)

	return e.report(ws, l)
}

// look at the real world with a plan.
func (e *external) look(ctx context.Context) (look, error) {
	p, err := e.session.plan(ctx)
	if err != nil {
		return look{}, err
	}

	e.plan = p

	state := p.Prior
	if state == nil {
		// The plan does not tell, because it is encrypted for example.
		if state, err = e.session.state(ctx); err != nil {
			return look{}, err
		}
	}

	return look{
		inputs: e.inputs,
		at:     e.schedule.now(),
		// A module that has nothing to create and is not there is complete. It
		// would be created over and over again otherwise.
		exists:   state.Resources > 0 || len(state.Outputs) > 0 || !p.Changes,
		upToDate: !p.Changes,
		outputs:  state.Outputs,
	}, nil
}

// report what the supplied look saw.
func (e *external) report(ws workspace.Workspace, l look) (managed.ExternalObservation, error) {
	details, err := connectionDetails(l.outputs)
	if err != nil {
		return managed.ExternalObservation{}, err
	}

	o := ws.GetObservation()
	o.Outputs = visibleOutputs(l.outputs)
	o.Checksum = l.inputs
	ws.SetObservation(o)

	if l.upToDate {
		ready(ws)
	}

	return managed.ExternalObservation{
		ResourceExists:    l.exists,
		ResourceUpToDate:  l.upToDate,
		ConnectionDetails: details,
	}, nil
}

// observeDeleted says whether there may be something left to destroy. It costs no
// run to say yes: destroying nothing is no error. When there is nothing left it
// deletes the Terraform workspace, before the finalizer goes.
func (e *external) observeDeleted(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	l, ok := e.memory.recall(ws.GetUID())
	if !ok || l.exists {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}

	err := e.session.deleteWorkspace(ctx)
	if err != nil && e.session.withoutModule() {
		err = e.session.deleteWorkspace(ctx)
	}

	return managed.ExternalObservation{}, err
}

// Create applies what Observe planned.
func (e *external) Create(ctx context.Context, ws workspace.Workspace) (managed.ExternalCreation, error) {
	l, err := e.apply(ctx, ws)
	if err != nil {
		return managed.ExternalCreation{}, err
	}

	details, err := connectionDetails(l.outputs)

	return managed.ExternalCreation{ConnectionDetails: details}, err
}

// Update applies what Observe planned.
func (e *external) Update(ctx context.Context, ws workspace.Workspace) (managed.ExternalUpdate, error) {
	l, err := e.apply(ctx, ws)
	if err != nil {
		ws.SetConditions(xpv2.Unavailable().WithMessage("The last update failed").WithObservedGeneration(ws.GetGeneration()))

		return managed.ExternalUpdate{}, err
	}

	o, err := e.report(ws, l)

	return managed.ExternalUpdate{ConnectionDetails: o.ConnectionDetails}, err
}

// apply the plan and remember what there is now.
func (e *external) apply(ctx context.Context, ws workspace.Workspace) (look, error) {
	// Whatever happens now, what was seen before is no longer true.
	e.memory.forget(ws.GetUID())

	a, err := e.session.apply(ctx, e.plan)
	if err != nil {
		return look{}, err
	}

	outputs := a.Outputs

	// The CLI does not print the values of sensitive outputs.
	if anySensitive(outputs) {
		state, err := e.session.state(ctx)
		if err != nil {
			return look{}, err
		}

		outputs = state.Outputs
	}

	l := look{inputs: e.inputs, at: e.schedule.now(), exists: true, upToDate: true, outputs: outputs}
	e.memory.keep(ws.GetUID(), l)

	return l, nil
}

// Delete destroys everything that is in the state.
func (e *external) Delete(ctx context.Context, ws workspace.Workspace) (managed.ExternalDelete, error) {
	e.memory.forget(ws.GetUID())

	if err := e.session.destroy(ctx); err != nil && !e.nothingToDestroy(ctx) {
		return managed.ExternalDelete{}, err
	}

	e.memory.keep(ws.GetUID(), look{at: e.schedule.now()})

	return managed.ExternalDelete{}, nil
}

// nothingToDestroy says whether the state is known to be empty, although a destroy
// failed: a module that was broken from the start must not keep its Workspace
// from being deleted.
func (e *external) nothingToDestroy(ctx context.Context) bool {
	if !e.session.withoutModule() {
		return false
	}

	state, err := e.session.state(ctx)

	return err == nil && state.Resources == 0
}

// Disconnect leaves nothing secret on disk.
func (e *external) Disconnect(_ context.Context) error {
	return e.session.close()
}

// ready marks the Workspace as ready, for its current specification.
func ready(ws workspace.Workspace) {
	ws.SetConditions(xpv2.Available().WithObservedGeneration(ws.GetGeneration()))
}

// notReadyIfChanged marks a Workspace as not ready whose specification cannot be
// planned, unless it was ready with the same one: then what is there is still
// what was asked for, and it is the look at it that failed.
func notReadyIfChanged(ws workspace.Workspace) {
	c := ws.GetCondition(xpv2.TypeReady)
	// An older version of this provider did not record the generation.
	if c.Status == corev1.ConditionTrue && c.ObservedGeneration != 0 && c.ObservedGeneration != ws.GetGeneration() {
		ws.SetConditions(xpv2.Unavailable().WithMessage("The changed specification cannot be planned").WithObservedGeneration(ws.GetGeneration()))
	}
}
