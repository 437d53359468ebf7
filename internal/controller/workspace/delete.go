// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// observeDeleted says whether there may be something left to destroy. It costs no
// run to say yes: destroying nothing is no error. When there is nothing left it
// deletes the Terraform workspace, before the finalizer goes.
func (e *external) observeDeleted(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	if !ownsState(ws) {
		owner, err := e.collisions.owner(ctx, ws, e.config)
		if err != nil {
			return managed.ExternalObservation{}, err
		}

		// What belongs to another Workspace is neither destroyed nor deleted.
		if owner != "" {
			return managed.ExternalObservation{}, nil
		}
	}

	l, ok := e.memory.recall(ws.GetUID())
	if !ok || l.exists {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}

	// To remove the finalizer may take another try.
	if l.gone {
		return managed.ExternalObservation{}, nil
	}

	err := e.locking(ctx, ws, func() error { return e.session.deleteWorkspace(ctx) })
	if mayBeBroken(err) && e.session.withoutModule() {
		err = e.session.deleteWorkspace(ctx)
	}

	if err == nil {
		e.removeDefaultState(ctx)
		e.memory.keep(ws.GetUID(), look{at: e.schedule.now(), gone: true})
	}

	// The next try begins with a destroy.
	if terraform.IsNotEmpty(err) {
		e.memory.forget(ws.GetUID())

		err = errors.Wrap(err, leftBehind)
	}

	return managed.ExternalObservation{}, err
}

// Delete destroys everything that is in the state.
func (e *external) Delete(ctx context.Context, ws workspace.Workspace) (managed.ExternalDelete, error) {
	if err := e.destroy(ctx, ws); err != nil {
		return managed.ExternalDelete{}, e.failed(ws, e.withWayOut(ws, err))
	}

	e.memory.keep(ws.GetUID(), look{at: e.schedule.now()})
	e.staller.succeeded(ws.GetUID())

	return managed.ExternalDelete{}, nil
}

func (e *external) destroy(ctx context.Context, ws workspace.Workspace) error {
	l, ok := e.memory.recall(ws.GetUID())
	seen := ok && !l.told
	e.memory.forget(ws.GetUID())

	if err := e.saveState(ctx, ws); err != nil {
		return err
	}

	// What this instance has not seen yet may not be what the Workspace had. A state
	// that cannot be read is up to destroy.
	if !seen && remembersResources(ws) {
		if state, err := e.session.state(ctx); err == nil {
			if err := e.lostState(ws, state); err != nil {
				return err
			}
		}
	}

	// Which state is there was not asked in any case.
	if err := e.session.takeNote(note{Taken: e.taken(ws)}); err != nil {
		return err
	}

	destroyed := 0

	err := e.locking(ctx, ws, func() (err error) {
		p := newProgress(e.record, ws)
		defer p.end()

		destroyed, err = e.session.destroy(ctx, p.report)

		return err
	})
	if err != nil {
		e.holdOn(ctx, ws)
	}

	switch {
	case err == nil:
		err = e.destroyedAll(ctx, ws, destroyed)
	case mayBeBroken(err) && e.nothingToDestroy(ctx, ws):
		err = nil
	}

	if err != nil {
		return err
	}

	return e.forgetState(ctx, ws)
}

// leftBehind is how a destroy can succeed that does not destroy everything.
const leftBehind = "there are resources left after destroy, see spec.forProvider.destroyArgs"

// destroyedAll returns an error if a destroy that succeeded has left resources: in a state
// that was lost since the last look at it, or in the one that there is. The latter is not
// asked where the Terraform workspace can be deleted: that is refused then.
func (e *external) destroyedAll(ctx context.Context, ws workspace.Workspace, destroyed int) error {
	mayBeLost := destroyed == 0 && remembersResources(ws)
	isDefault := meta.GetExternalName(ws) == terraform.DefaultWorkspace

	if !mayBeLost && !isDefault {
		return nil
	}

	state, err := e.session.state(ctx)
	if err != nil {
		return err
	}

	if isDefault && state.Managed > 0 {
		return errors.Errorf("%s: %d in the state", leftBehind, state.Managed)
	}

	if mayBeLost {
		return e.lostState(ws, state)
	}

	return nil
}

// remembersResources says whether there must be something to destroy.
func remembersResources(ws workspace.Workspace) bool {
	had := remembered(ws)

	return had != nil && had.Resources > 0
}

// forgetState records that nothing is left of what was in the state, before the
// state itself is deleted: it would look like a lost one to whoever comes next.
func (e *external) forgetState(ctx context.Context, ws workspace.Workspace) error {
	if !remembersResources(ws) {
		return nil
	}

	o := ws.GetObservation()
	o.State = &commonv1beta1.StateSummary{}
	ws.SetObservation(o)

	return errors.Wrap(e.kube.Status().Update(ctx, ws), "cannot record that everything is destroyed")
}

// mayBeBroken says whether the supplied error of a run may be that the module is
// broken, or cannot be had: nothing else is known to be the reason.
func mayBeBroken(err error) bool {
	return err != nil && !terraform.IsLocked(err) && !terraform.Began(err) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// nothingToDestroy says whether the state is known to be empty, although a destroy
// failed: a module that was broken from the start must not keep its Workspace
// from being deleted.
func (e *external) nothingToDestroy(ctx context.Context, ws workspace.Workspace) bool {
	if !e.session.withoutModule() {
		return false
	}

	state, err := e.session.state(ctx)

	return err == nil && state.Resources == 0 && e.lostState(ws, state) == nil
}
