// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

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

// A destroyer destroys what is in the state of a Workspace, and deletes the Terraform workspace.
type destroyer struct {
	*pass

	cli     destroyCLI
	state   stateReader
	module  moduleCLI
	states  *kubernetesStates
	locks   *locker
	guard   *stateGuard
	unsaved *unsavedState

	// done says what the destroy has done, or is empty without one.
	done string
}

// A destroyCLI destroys, and deletes a Terraform workspace.
type destroyCLI interface {
	progressCLI

	Prepare(ctx context.Context) error
	CheckDestroy(s *terraform.State) error
	Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (terraform.Destroyed, error)
	DeleteWorkspace(ctx context.Context) error
}

// Delete destroys everything in the state, if the state belongs to the Workspace, and deletes the Terraform
// workspace.
func (d *destroyer) Delete(ctx context.Context, ws workspace.Workspace) (managed.ExternalDelete, error) {
	mine, err := d.destroy(ctx, ws)
	if errors.Is(err, errAwaitsApproval) {
		return managed.ExternalDelete{AdditionalDetails: map[string]string{"awaits-approval": "true"}}, nil
	}

	if err != nil {
		return managed.ExternalDelete{}, d.failed(ws, d.withWayOut(ws, err))
	}

	// If the state belongs to another Workspace, so does the Terraform workspace, which stays.
	if mine {
		if err := d.deleteWorkspace(ctx, ws); err != nil {
			return managed.ExternalDelete{}, d.failed(ws, d.withWayOut(ws, err))
		}
	}

	// A failed deletion of the Terraform workspace would repeat this Event.
	if mine && d.done == "" {
		d.recorder.Event(ws, event.Normal(reasonDeleted, "There was nothing to destroy"))
	}

	d.records.Observe(ws, schedule.Observation{Deleted: true}, d.secrets)

	return managed.ExternalDelete{}, nil
}

// errAwaitsApproval is the result of a destroy that waits for approval, which is no failure.
var errAwaitsApproval = errors.New("the deletion waits for approval")

// deleteWorkspace deletes the Terraform workspace, whose state is empty.
func (d *destroyer) deleteWorkspace(ctx context.Context, ws workspace.Workspace) (err error) {
	if !d.states.removeState(ctx, ws) {
		err = d.locks.withLock(ctx, ws, func() error { return d.cli.DeleteWorkspace(ctx) })
		if mayBeBroken(err) && d.module.LeaveOutModule() {
			err = d.cli.DeleteWorkspace(ctx)
		}
	}

	switch {
	// The namespace takes the empty state with it.
	case err == nil, terraform.LacksNamespace(err):
		d.states.removeDefaultState(ctx)

		return nil
	// The next attempt begins with a destroy.
	case terraform.IsNotEmpty(err):
		return errors.Wrap(err, leftBehind)
	// "workspace delete" runs in the Terraform workspace "default".
	case terraform.HasOtherEncryption(err):
		return errors.Errorf("%w. Everything is destroyed. If the encryption refers to terraform.workspace, use a variable instead. To delete the Workspace and leave its empty state behind, %s", err, howToOrphan(ws))
	default:
		return err
	}
}

// destroy destroys everything in the state. It returns false, and changes nothing, if the state
// does not belong to the Workspace.
func (d *destroyer) destroy(ctx context.Context, ws workspace.Workspace) (mine bool, err error) {
	d.records.ForgetObservation(ws)

	if err := d.unsaved.saveOrUseState(ctx, ws); err != nil {
		return false, err
	}

	// The state that was observed may have been replaced since.
	state, broken, err := d.stateToDestroy(ctx, ws)
	if err != nil {
		return false, err
	}

	if err := d.unsaved.recordUse(state); err != nil {
		return false, err
	}

	if mine, err := d.mayDestroy(ctx, ws, state); err != nil || !mine {
		return mine, err
	}

	// A person would approve what is refused.
	if broken != nil && state.Managed > 0 {
		return false, brokenModuleError{broken}
	}

	approval := d.deletionApproval(ws, state)
	if approval.waits != nil {
		d.waitForDeletion(ws, state, approval)

		return false, errAwaitsApproval
	}

	awaiting(ws, nil, approval.id != "")

	if approval.id != "" {
		d.recorder.Event(ws, event.Normal(reasonApplying, "Destroying what was approved: "+approval.id))
	}

	if !state.Empty() && broken == nil {
		return true, d.destroyState(ctx, ws, state)
	}

	if err := d.saveDestroyed(ctx, ws, nil); err != nil {
		return false, err
	}

	return true, d.forgetState(ctx, ws)
}

// stateToDestroy returns the current state. If it can be read only without the module, or a destroy would destroy what the
// module keeps, broken is the error with the module.
func (d *destroyer) stateToDestroy(ctx context.Context, ws workspace.Workspace) (state *terraform.State, broken, err error) {
	state, err = d.currentState(ctx, ws)
	if err == nil {
		return state, d.cli.CheckDestroy(state), nil
	}

	if !mayBeBroken(err) {
		return nil, nil, err
	}

	broken = err

	if d.module.LeaveOutModule() {
		if state, err = d.state.State(ctx); err == nil {
			return state, broken, nil
		}
	}

	return nil, nil, brokenModuleError{broken}
}

// currentState returns the state of a Workspace. It is read without a run of the CLI if it is the
// one that the Workspace owns. There is none if the CLI cannot make one.
func (d *destroyer) currentState(ctx context.Context, ws workspace.Workspace) (*terraform.State, error) {
	if err := d.cli.Prepare(ctx); err != nil {
		return nil, err
	}

	if b, here := d.states.backendHere(); here {
		if _, state, _ := d.states.kubernetesState(ctx, b, meta.GetExternalName(ws), maxKubernetesState); ownsState(ws, state) {
			return state, nil
		}
	}

	state, err := d.state.State(ctx)
	if terraform.LacksState(err) {
		return &terraform.State{}, nil
	}

	return state, err
}

// mayDestroy says whether the state that was found is the one that the deletion of the
// Workspace has to destroy.
func (d *destroyer) mayDestroy(ctx context.Context, ws workspace.Workspace, found *terraform.State) (bool, error) {
	if err := d.guard.lostState(ws, found); err != nil {
		return false, err
	}

	// The state of the Workspace was empty, or a person has accepted its loss. The state that is
	// there instead belongs to something else.
	if !found.Empty() && !workspace.Knows(ws, found.Lineage) {
		d.recorder.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: the state that is there, with lineage "+found.Lineage+", is not the one that the Workspace had"))

		return false, nil
	}

	err := d.guard.ownState(ctx, ws, found, true)

	foreign := foreignStateError{}
	if errors.As(err, &foreign) && (foreign.certain || !workspace.HasBegun(ws)) {
		d.recorder.Event(ws, event.Normal(reasonStateKept, "Nothing is destroyed: "+foreign.Error()))

		return false, nil
	}

	if err != nil {
		return false, err
	}

	return true, deletesTakenOver(ws, found)
}

// checkAgain returns an error if the destroy may not begin after an init that it has needed.
func (d *destroyer) checkAgain(ctx context.Context, found *terraform.State) error {
	current, err := d.state.State(ctx)
	if err == nil && (current.Lineage != found.Lineage || d.approves != commonv1beta1.ApprovalNever && current.Serial != found.Serial) {
		err = errors.New("cannot destroy: there is another state than before")
	}

	if err != nil {
		return err
	}

	// The init may have brought other versions of the modules that the module calls.
	if err := d.cli.CheckDestroy(current); err != nil {
		return brokenModuleError{err}
	}

	return nil
}

func (d *destroyer) destroyState(ctx context.Context, ws workspace.Workspace, found *terraform.State) error {
	if err := errors.Join(d.unsaved.writeRunRecord(ws, found, nil), d.announceDeletion(ctx, ws)); err != nil {
		return err
	}

	destroyed := terraform.Destroyed{}
	again := func() error { return d.checkAgain(ctx, found) }

	err := d.locks.withLock(ctx, ws, func() (err error) {
		d.done, err = d.withProgress(ws, d.cli, &progress{destroys: true, total: found.Managed}, func(report func(terraform.Progress)) (err error) {
			destroyed, err = d.cli.Destroy(ctx, again, report)

			return err
		})

		return err
	})

	// The Workspace, and its status, are gone soon.
	warned(d.recorder, ws, destroyed.Warnings.Texts())

	complete := err == nil
	if !complete {
		_, err = d.unsaved.saveOrReport(ctx, ws, found, err)
	}

	err = d.saveDestroyed(ctx, ws, err)

	switch {
	case err == nil && complete:
		err = d.destroyedAll(ctx, ws, found, destroyed.Destroy)
	case found.Managed == 0 && (mayBeBroken(err) || terraform.CannotRefresh(err)):
		// A module that was broken from the start, or looks up what is gone, must not block the deletion of its Workspace.
		err = nil
	}

	if err != nil {
		return err
	}

	// Nothing else tells what was destroyed if the next request fails.
	if d.done != "" {
		d.recorder.Event(ws, event.Normal(reasonDeleted, d.done))
	}

	return d.forgetState(ctx, ws)
}

// saveDestroyed saves the state after a destroy that ended with err, if the destroy has used an unsaved one.
// If it has left no resources, a state that cannot be saved because its namespace is being deleted is not
// needed any more.
func (d *destroyer) saveDestroyed(ctx context.Context, ws workspace.Workspace, err error) error {
	if err == nil {
		err = d.unsaved.saveUsedState(ctx, ws)
	}

	if !terraform.LacksNamespace(err) {
		return err
	}

	path, pathErr := d.unsaved.cli.UnsavedState()
	if pathErr != nil || path == "" {
		return err
	}

	if s := readUnsaved(path); s == nil || s.Managed > 0 {
		return err
	}

	return errors.Wrap(os.Remove(path), "cannot remove the state of what was destroyed")
}

// announceDeletion records in the status that the deletion is in progress. The managed reconciler writes that
// only after Delete, which may take long.
func (d *destroyer) announceDeletion(ctx context.Context, ws workspace.Workspace) error {
	if ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonDeleting && ws.GetCondition(workspace.TypeAwaitingApproval).Reason != reasonApproved {
		return nil
	}

	deleting(ws)

	return errors.Wrap(d.kube.Status().Update(ctx, ws), "cannot record that the deletion begins")
}

const leftBehind = "there are resources left after destroy, see spec.forProvider.destroyArgs"

// destroyedAll returns an error if a successful destroy has left resources: in a state that was
// lost since it was read, or in the current state. It does not read the current state if enough was
// destroyed and the Terraform workspace can be deleted: the CLI refuses to delete one with resources.
func (d *destroyer) destroyedAll(ctx context.Context, ws workspace.Workspace, found *terraform.State, destroyed int) error {
	if destroyed >= found.Managed && meta.GetExternalName(ws) != terraform.DefaultWorkspace {
		return nil
	}

	state, err := d.currentState(ctx, ws)
	if err != nil {
		return err
	}

	if state.Managed > 0 && state.Lineage == found.Lineage {
		return errors.Errorf("%s: %d in the state", leftBehind, state.Managed)
	}

	if destroyed == 0 && found.Managed > 0 {
		return d.guard.lostState(ws, state)
	}

	return nil
}

// forgetState records that the state is empty, before it is deleted. Otherwise the next reconcile
// would take it for a lost one.
func (d *destroyer) forgetState(ctx context.Context, ws workspace.Workspace) error {
	if workspace.Remembered(ws).Resources == 0 {
		return nil
	}

	workspace.SetState(ws, &commonv1beta1.StateSummary{})

	// The managed reconciler sets these conditions, too. With this write it has nothing to write.
	deleting(ws)
	ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(ws.GetGeneration()))

	return errors.Wrap(d.kube.Status().Update(ctx, ws), "cannot record that everything is destroyed")
}

// mayBeBroken says whether a run may have failed because the module is broken or cannot be
// fetched: no other reason is known.
func mayBeBroken(err error) bool {
	return err != nil && !terraform.IsLocked(err) && !terraform.Began(err) &&
		!errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}
