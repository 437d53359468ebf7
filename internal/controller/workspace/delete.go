// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonStateKept event.Reason = "KeptState"

// observeDeleted says whether there may be something left to destroy. It costs no
// run to say yes: destroying nothing is no error. When there is nothing left it
// deletes the Terraform workspace, before the finalizer goes.
func (e *external) observeDeleted(ctx context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	r := e.records.Get(ws)
	if !r.Observed() || r.Observation.Exists {
		return managed.ExternalObservation{ResourceExists: true}, nil
	}

	// To remove the finalizer may take another try.
	if r.Observation.Deleted {
		return managed.ExternalObservation{}, nil
	}

	err := e.locking(ctx, ws, func() error { return e.runner.DeleteWorkspace(ctx) })
	if mayBeBroken(err) && e.runner.LeaveOutModule() {
		err = e.runner.DeleteWorkspace(ctx)
	}

	if err == nil {
		e.removeDefaultState(ctx)
		e.records.Observe(ws, schedule.Observation{Deleted: true})
	}

	// The next try begins with a destroy.
	if terraform.IsNotEmpty(err) {
		e.records.ForgetObservation(ws)

		err = errors.Wrap(err, leftBehind)
	}

	return managed.ExternalObservation{}, err
}

// Delete destroys everything that is in the state, if that belongs to the Workspace.
func (e *external) Delete(ctx context.Context, ws workspace.Workspace) (managed.ExternalDelete, error) {
	mine, err := e.destroy(ctx, ws)
	if err != nil {
		return managed.ExternalDelete{}, e.failed(ws, e.withWayOut(ws, err))
	}

	// The Terraform workspace of another Workspace stays, too.
	e.records.Observe(ws, schedule.Observation{Deleted: !mine})
	e.succeeded(ws)

	return managed.ExternalDelete{}, nil
}

// destroy everything that is in the state. It returns false, and changes nothing, if the
// state does not belong to the Workspace.
func (e *external) destroy(ctx context.Context, ws workspace.Workspace) (mine bool, err error) {
	e.records.ForgetObservation(ws)

	if err := e.saveState(ctx, ws); err != nil {
		return false, err
	}

	// What was seen before may have been replaced since.
	state, broken := e.runner.State(ctx)
	if mayBeBroken(broken) && e.runner.LeaveOutModule() {
		var err error
		if state, err = e.runner.State(ctx); err != nil {
			return false, broken
		}
	} else if broken != nil {
		return false, broken
	}

	if mine, err := e.mayDestroy(ctx, ws, state); err != nil || !mine {
		return mine, err
	}

	if state.Empty() || (broken != nil && state.Resources == 0) {
		return true, e.forgetState(ctx, ws)
	}

	if broken != nil {
		return false, broken
	}

	return true, e.destroyState(ctx, ws, state)
}

// mayDestroy says whether the state that was found is the one that the deletion of the
// Workspace has to destroy.
func (e *external) mayDestroy(ctx context.Context, ws workspace.Workspace, found *terraform.State) (bool, error) {
	if err := e.lostState(ws, found); err != nil {
		return false, err
	}

	// It is accepted that the state of the Workspace is lost, or there was nothing in it.
	// What is there instead belongs to something else.
	if !found.Empty() && !workspace.Knows(ws, found.Lineage) {
		e.record.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: the state that is there, with lineage "+found.Lineage+", is not the one that the Workspace had"))

		return false, nil
	}

	err := e.ownState(ctx, ws, found, true)

	foreign := foreignStateError{}
	if errors.As(err, &foreign) && (foreign.certain || !workspace.HasBegun(ws)) {
		e.record.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: "+foreign.Error()))

		return false, nil
	}

	return err == nil, err
}

// destroyState destroys everything that is in the supplied state.
func (e *external) destroyState(ctx context.Context, ws workspace.Workspace, found *terraform.State) error {
	if err := e.writeRunRecord(ws, found); err != nil {
		return err
	}

	destroyed := 0

	err := e.locking(ctx, ws, func() (err error) {
		p := newProgress(e.record, ws)
		defer p.end()

		destroyed, err = e.runner.Destroy(ctx, p.report)

		return err
	})
	if err != nil {
		e.retrySaveState(ctx, ws)
	}

	switch {
	case err == nil:
		err = e.destroyedAll(ctx, ws, found, destroyed)
	case mayBeBroken(err) && found.Resources == 0:
		// A module that was broken from the start must not keep its Workspace from being
		// deleted.
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
// that was lost since it was read, or in the one that there is. The latter is not
// asked where the Terraform workspace can be deleted: that is refused then.
func (e *external) destroyedAll(ctx context.Context, ws workspace.Workspace, found *terraform.State, destroyed int) error {
	mayBeLost := destroyed == 0 && found.Managed > 0
	isDefault := meta.GetExternalName(ws) == terraform.DefaultWorkspace

	if !mayBeLost && !isDefault {
		return nil
	}

	state, err := e.runner.State(ctx)
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
	had := workspace.Remembered(ws, false)

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
