// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonUnlocked event.Reason = "RemovedOrphanLock"

// withLock calls run, which needs the lock on the state. Its success proves that earlier runs have
// left none.
func (e *external) withLock(ctx context.Context, ws workspace.Workspace, run func() error) error {
	return e.retryAfterUnlock(ctx, ws, false, run)
}

// retryAfterUnlock calls run. If the lock of a dead process blocks it, it removes the lock and calls
// run again. lockFree says that run makes a plan without a lock. Even that may be refused because of a
// lock: some backends take one to make a state where there is none.
func (e *external) retryAfterUnlock(ctx context.Context, ws workspace.Workspace, lockFree bool, run func() error) error {
	start := time.Now()
	err := e.recordRun(ws, lockFree, run)

	l, ok := terraform.LockOf(err)
	if !ok || e.Locks.IsOwnAttempt(l, start) {
		return err
	}

	why, removal, whyErr := e.whyLocked(ctx, ws, l)
	if whyErr != nil {
		return errors.Join(err, whyErr)
	}

	if why != "" {
		return statelock.LockedError{Err: err, Lock: l, Why: why, Removal: removal, Lease: e.lockLease(ws, l)}
	}

	// The lock goes last: until then no other process works on the state.
	if err := e.rejectLateWrite(ctx, ws, l); err != nil {
		return err
	}

	if err := e.unlock(ctx, ws, l); err != nil {
		return err
	}

	e.Metrics.OrphanLockRemoved()
	e.recorder.Event(ws, event.Warning(reasonUnlocked, errors.Errorf("removed the lock %s on the state, which %s made at %s for %s: the process that held it is dead", l.ID, l.Who, l.Created, l.Operation)))

	return e.recordRun(ws, lockFree, run)
}

// lockLease returns the namespace and name of the Lease that locks the state of a Workspace, or an empty string. A
// lock of a run that makes a state may be on the state of the default Terraform workspace.
func (e *external) lockLease(ws workspace.Workspace, l terraform.Lock) string {
	b, here := e.backendHere()
	if !here || l.Operation == statelock.MakesState {
		return ""
	}

	return leaseKey(b, meta.GetExternalName(ws)).String()
}

// whyLocked says why a lock on the state of a Workspace is not to be removed, or is empty. removal is when
// it may be removed, if that is known.
func (e *external) whyLocked(ctx context.Context, ws workspace.Workspace, l terraform.Lock) (why string, removal time.Time, err error) {
	if workspace.OnlyObserves(ws) {
		return "this Workspace only observes the state", time.Time{}, nil
	}

	if why, removal := e.Locks.WhyKept(ws, l, e.now()); why != "" {
		return why, removal, nil
	}

	if e.Locks.Users.UsedByOthers(meta.GetExternalName(ws)) {
		return "it may be held for another Workspace with the same external name, which this instance works on now", time.Time{}, nil
	}

	other, err := e.holder(ctx, ws, l)
	if other == "" || err != nil {
		return "", time.Time{}, err
	}

	return "it may be held for " + other + ", which may use the same backend", time.Time{}, nil
}

// holder returns another Workspace that may hold the lock, or an empty string. An example is a
// copy whose creation has begun in the same empty state. The host name in the lock may be that of
// a dead predecessor and also of the instance that serves the other Workspace now. Such locks are
// rare enough to list all Workspaces for each.
func (e *external) holder(ctx context.Context, ws workspace.Workspace, l terraform.Lock) (string, error) {
	lineage := ""

	state, err := e.runner.State(ctx)
	// A backend may need the lock to make a state where there is none.
	if err != nil && !terraform.IsLocked(err) {
		return "", err
	}

	if err == nil {
		lineage = state.Lineage
	}

	// No other Workspace changes a state that this one has recorded as its own.
	if lineage != "" && lineage == ws.GetOwnership().Lineage {
		return "", nil
	}

	holder := ""
	err = e.eachWorkspace(ctx, func(other workspace.Workspace, description string) {
		if other.GetUID() != ws.GetUID() && workspace.MayWorkOn(other, lineage, workspace.TerraformWorkspace(ws)) && e.Locks.IsServed(ctx, other, l.Host()) {
			holder = description
		}
	})

	return holder, errors.Wrap(err, "cannot find out whom the lock on the state belongs to")
}

// unlock removes a lock with the CLI or, if the CLI cannot remove it, through Kubernetes.
func (e *external) unlock(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	err := e.runner.Unlock(ctx, l.ID)
	if err == nil {
		return nil
	}

	names := []string{meta.GetExternalName(ws)}
	// The CLI also makes the state of the default workspace, and removes locks only from the one
	// that is selected.
	if l.Operation == statelock.MakesState {
		names = append(names, terraform.DefaultWorkspace)
	}

	b := e.runner.KubernetesBackend()
	// A server of the tenant may say that it has a lock which another Workspace holds here.
	if b.Suffix == "" || b.Server != "" && b.Server != e.server {
		names = nil
	}

	for _, name := range names {
		removed, kubeErr := e.releaseLease(ctx, b, name, l)
		if removed {
			return nil
		}

		err = errors.Join(err, kubeErr)
	}

	return errors.Wrapf(err, "the CLI cannot remove the lock with the ID %s. With the kubernetes backend, remove that holder from its Lease with kubectl", l.ID)
}

// mayBeLocked says whether a dead process may have left a lock on the state of a Workspace. The
// state of a Workspace that is only observed is never unlocked.
func (e *external) mayBeLocked(ws workspace.Workspace) bool {
	if workspace.OnlyObserves(ws) {
		return false
	}

	r := e.records.Get(ws)

	return e.Locks.MayBeLocked(ws, r.Observed() && !r.Observation.Locked)
}

// recordRun calls run and records its time while it may leave a lock behind: during the run, which may be
// the end of this process, and after every failure, unless another run held the lock.
func (e *external) recordRun(ws workspace.Workspace, lockFree bool, run func() error) error {
	uid, runs := ws.GetUID(), e.Locks.FailedRuns
	r := statelock.Run{Who: e.Locks.Who(), Start: e.now(), PlanWithoutLock: lockFree}

	runs.Record(uid, e.runner.FailedRuns()...)

	// A plan without a lock takes one only to make the state. A poll does not write to the disk.
	if !lockFree || workspace.Remembered(ws).Lineage == "" {
		if err := e.runner.WriteFailedRuns(append(runs.Of(uid), r), !lockFree); err != nil {
			return err
		}
	}

	err := run()

	switch {
	case err == nil && !lockFree:
		runs.Forget(uid)
	case err != nil && !terraform.IsLocked(err):
		r.End = e.now()
		runs.Record(uid, r)
	}

	// If this fails, the record names a run that has ended, until the next run.
	_ = e.runner.WriteFailedRuns(runs.Of(uid), false)

	return err
}
