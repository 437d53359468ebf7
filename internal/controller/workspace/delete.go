// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonStateKept event.Reason = "KeptState"

// observeDeleted says whether there may be resources to destroy, or a Terraform workspace to delete. If that is
// not known, the answer is yes: it costs no run, and to destroy nothing is not an error.
func (e *external) observeDeleted(ws workspace.Workspace) managed.ExternalObservation {
	r := e.records.Get(ws)

	// The removal of the finalizer may need another reconcile.
	return managed.ExternalObservation{ResourceExists: !r.Observed() || !r.Observation.Deleted}
}

// Delete destroys everything in the state, if the state belongs to the Workspace, and deletes the Terraform
// workspace.
func (e *external) Delete(ctx context.Context, ws workspace.Workspace) (managed.ExternalDelete, error) {
	mine, err := e.destroy(ctx, ws)
	if err != nil {
		return managed.ExternalDelete{}, e.failed(ws, e.withWayOut(ws, err))
	}

	if e.done != "" {
		e.recorder.Event(ws, event.Normal(reasonDeleted, e.done))
	}

	// If the state belongs to another Workspace, so does the Terraform workspace, which stays.
	if mine {
		if err := e.deleteWorkspace(ctx, ws); err != nil {
			return managed.ExternalDelete{}, e.failed(ws, e.withWayOut(ws, err))
		}
	}

	// A failed deletion of the Terraform workspace would repeat this Event.
	if e.done == "" {
		e.recorder.Event(ws, event.Normal(reasonDeleted, "There was nothing to destroy"))
	}

	e.records.Observe(ws, schedule.Observation{Deleted: true})

	return managed.ExternalDelete{}, nil
}

// deleteWorkspace deletes the Terraform workspace, whose state is empty.
func (e *external) deleteWorkspace(ctx context.Context, ws workspace.Workspace) (err error) {
	if !e.removeState(ctx, ws) {
		err = e.withLock(ctx, ws, func() error { return e.runner.DeleteWorkspace(ctx) })
		if mayBeBroken(err) && e.runner.LeaveOutModule() {
			err = e.runner.DeleteWorkspace(ctx)
		}
	}

	switch {
	// The namespace takes the empty state with it.
	case err == nil, terraform.LacksNamespace(err):
		e.removeDefaultState(ctx)

		return nil
	// The next attempt begins with a destroy.
	case terraform.IsNotEmpty(err):
		return errors.Wrap(err, leftBehind)
	default:
		return err
	}
}

// destroy destroys everything in the state. It returns false, and changes nothing, if the state
// does not belong to the Workspace.
func (e *external) destroy(ctx context.Context, ws workspace.Workspace) (mine bool, err error) {
	e.records.ForgetObservation(ws)

	if err := e.saveOrUseState(ctx, ws); err != nil {
		return false, err
	}

	// The state that was observed may have been replaced since.
	state, broken, err := e.stateToDestroy(ctx, ws)
	if err != nil {
		return false, err
	}

	if err := e.recordUse(state); err != nil {
		return false, err
	}

	if mine, err := e.mayDestroy(ctx, ws, state); err != nil || !mine {
		return mine, err
	}

	switch {
	case state.Empty() || (broken != nil && state.Resources == 0):
		if err := e.saveDestroyed(ctx, ws, nil); err != nil {
			return false, err
		}

		return true, e.forgetState(ctx, ws)
	case broken != nil:
		return false, broken
	default:
		return true, e.destroyState(ctx, ws, state)
	}
}

// stateToDestroy returns the current state. If it can be read only without the module, broken is the
// error with the module.
func (e *external) stateToDestroy(ctx context.Context, ws workspace.Workspace) (state *terraform.State, broken, err error) {
	state, err = e.currentState(ctx, ws)
	if !mayBeBroken(err) || !e.runner.LeaveOutModule() {
		return state, nil, err
	}

	broken = err
	if state, err = e.runner.State(ctx); err != nil {
		return nil, nil, broken
	}

	return state, broken, nil
}

// mayDestroy says whether the state that was found is the one that the deletion of the
// Workspace has to destroy.
func (e *external) mayDestroy(ctx context.Context, ws workspace.Workspace, found *terraform.State) (bool, error) {
	if err := e.lostState(ws, found); err != nil {
		return false, err
	}

	// The state of the Workspace was empty, or a person has accepted its loss. The state that is
	// there instead belongs to something else.
	if !found.Empty() && !workspace.Knows(ws, found.Lineage) {
		e.recorder.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: the state that is there, with lineage "+found.Lineage+", is not the one that the Workspace had"))

		return false, nil
	}

	err := e.ownState(ctx, ws, found, true)

	foreign := foreignStateError{}
	if errors.As(err, &foreign) && (foreign.certain || !workspace.HasBegun(ws)) {
		e.recorder.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: "+foreign.Error()))

		return false, nil
	}

	if err != nil {
		return false, err
	}

	return true, deletesTakenOver(ws, found)
}

func (e *external) destroyState(ctx context.Context, ws workspace.Workspace, found *terraform.State) error {
	if err := errors.Join(e.writeRunRecord(ws, found, nil), e.announceDeletion(ctx, ws)); err != nil {
		return err
	}

	destroyed := 0
	again := func() error {
		current, err := e.runner.State(ctx)
		if err == nil && current.Lineage != found.Lineage {
			err = errors.New("cannot destroy: there is another state than before")
		}

		return err
	}

	err := e.withLock(ctx, ws, func() error {
		return e.withProgress(ws, &progress{destroys: true, total: found.Managed}, func(report func(terraform.Progress)) (err error) {
			destroyed, err = e.runner.Destroy(ctx, again, report)

			return err
		})
	})

	complete := err == nil
	if !complete {
		err = e.retrySaveState(ctx, ws, err)
		e.reportFailed(ctx, ws, found, err)
	}

	err = e.saveDestroyed(ctx, ws, err)

	switch {
	case err == nil && complete:
		err = e.destroyedAll(ctx, ws, found, destroyed)
	case mayBeBroken(err) && found.Resources == 0:
		// A module that was broken from the start must not block the deletion of its Workspace.
		err = nil
	}

	if err != nil {
		return err
	}

	return e.forgetState(ctx, ws)
}

// saveDestroyed saves the state after a destroy that ended with err, if the destroy has used an unsaved one.
// If it has left no resources, a state that cannot be saved because its namespace is being deleted is not
// needed any more.
func (e *external) saveDestroyed(ctx context.Context, ws workspace.Workspace, err error) error {
	if err == nil {
		err = e.saveUsedState(ctx, ws)
	}

	if !terraform.LacksNamespace(err) {
		return err
	}

	path, pathErr := e.runner.UnsavedState()
	if pathErr != nil || path == "" {
		return err
	}

	data, readErr := regular.Read(path, maxKubernetesState)
	if readErr != nil {
		return errors.Join(err, readErr)
	}

	if s, parseErr := terraform.ParseState(data); parseErr != nil || s.Managed > 0 {
		return err
	}

	return errors.Wrap(os.Remove(path), "cannot remove the state of what was destroyed")
}

// announceDeletion records in the status that the deletion is in progress. The managed reconciler writes that
// only after Delete, which may take long.
func (e *external) announceDeletion(ctx context.Context, ws workspace.Workspace) error {
	if ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonDeleting {
		return nil
	}

	deleting(ws)

	return errors.Wrap(e.kube.Status().Update(ctx, ws), "cannot record that the deletion begins")
}

const leftBehind = "there are resources left after destroy, see spec.forProvider.destroyArgs"

// destroyedAll returns an error if a successful destroy has left resources: in a state that was
// lost since it was read, or in the current state. It does not read the current state if enough was
// destroyed and the Terraform workspace can be deleted: the CLI refuses to delete one with resources.
func (e *external) destroyedAll(ctx context.Context, ws workspace.Workspace, found *terraform.State, destroyed int) error {
	if destroyed >= found.Managed && meta.GetExternalName(ws) != terraform.DefaultWorkspace {
		return nil
	}

	state, err := e.currentState(ctx, ws)
	if err != nil {
		return err
	}

	if state.Managed > 0 && state.Lineage == found.Lineage {
		return errors.Errorf("%s: %d in the state", leftBehind, state.Managed)
	}

	if destroyed == 0 && found.Managed > 0 {
		return e.lostState(ws, state)
	}

	return nil
}

// forgetState records that the state is empty, before it is deleted. Otherwise the next reconcile
// would take it for a lost one.
func (e *external) forgetState(ctx context.Context, ws workspace.Workspace) error {
	if workspace.Remembered(ws).Resources == 0 {
		return nil
	}

	o := ws.GetObservation()
	o.State = &commonv1beta1.StateSummary{}
	ws.SetObservation(o)

	// The managed reconciler sets these conditions, too. With this write it has nothing to write.
	deleting(ws)
	ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(ws.GetGeneration()))

	return errors.Wrap(e.kube.Status().Update(ctx, ws), "cannot record that everything is destroyed")
}

// mayBeBroken says whether a run may have failed because the module is broken or cannot be
// fetched: no other reason is known.
func mayBeBroken(err error) bool {
	return err != nil && !terraform.IsLocked(err) && !terraform.Began(err) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// withWayOut adds to the error of a destroy what a person can do about variables without a value, a backend
// without its namespace, or a module that refers to something that is gone.
//
// A destroy with other values than the last ones, such as the defaults of the module, would not
// help: the region of a provider may be one of them. The CLI finds no resources in another
// region, and removes them from the state as if they had been destroyed.
func (e *external) withWayOut(ws workspace.Workspace, err error) error {
	if terraform.LacksNamespace(err) {
		return errors.Errorf("%w. The namespace of the state is being deleted, or is gone. To delete the Workspace and leave the infrastructure behind, %s", err, howToOrphan(ws))
	}

	if terraform.MissesValue(err) {
		return errors.Errorf("%w; the module refers to a value that is gone. To destroy without a look at it, set spec.forProvider.destroyArgs to [\"-refresh=false\"]", err)
	}

	if e.runner.Incomplete() == nil || !errors.Is(err, e.runner.Incomplete()) {
		return orLeaveBehind(ws, err)
	}

	return errors.Errorf("%w. There are resources to destroy, which takes the values of all variables: restore what is missing, or correct spec.forProvider. "+
		"To delete the Workspace and leave the infrastructure and its state behind, %s", err, howToOrphan(ws))
}

// orLeaveBehind adds to an error that prevents a deletion how to delete the Workspace nevertheless, unless the
// error may pass: something is missing that the specification refers to, the state cannot be read or is in
// another backend, or the module forbids to destroy a resource.
func orLeaveBehind(ws workspace.Workspace, err error) error {
	if !kerrors.IsNotFound(err) && !terraform.CannotLoadState(err) && !terraform.IsBackendChange(err) && !terraform.IsPrevented(err) {
		return err
	}

	stop := "."
	if strings.HasSuffix(err.Error(), stop) {
		stop = ""
	}

	return errors.Errorf("%w%s If that cannot be mended: to delete the Workspace and leave the infrastructure and its state behind, %s", err, stop, howToOrphan(ws))
}

// howToOrphan says how a person can delete a Workspace and keep its infrastructure.
func howToOrphan(ws workspace.Workspace) string {
	_, hasDeletionPolicy := ws.(resource.Orphanable)

	// Other management policies take precedence over the deletion policy.
	if p := ws.GetManagementPolicies(); hasDeletionPolicy && (len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll)) {
		return "set spec.deletionPolicy to Orphan"
	}

	return `set spec.managementPolicies to ["Observe", "Create", "Update"]`
}
