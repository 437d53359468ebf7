// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonUnlocked event.Reason = "RemovedOrphanLock"

// A locker makes the runs of the CLI that lock the state, and removes the locks of dead processes.
type locker struct {
	*pass

	cli    lockCLI
	states *kubernetesStates
}

// A lockCLI removes a lock, and keeps a record of the runs that may have left one.
type lockCLI interface {
	stateReader

	Unlock(ctx context.Context, id string) error
	FailedRuns() []statelock.Run
	WriteFailedRuns(ctx context.Context, runs []statelock.Run, durable bool) error
}

// withLock calls run, which needs the lock on the state. Its success proves that earlier runs have
// left none.
func (lk *locker) withLock(ctx context.Context, ws workspace.Workspace, run func() error) error {
	return lk.retryAfterUnlock(ctx, ws, false, run)
}

// retryAfterUnlock calls run. If the lock of a dead process blocks it, it removes the lock and calls
// run again. lockFree says that run makes a plan without a lock. Even that may be refused because of a
// lock: some backends take one to make a state where there is none.
func (lk *locker) retryAfterUnlock(ctx context.Context, ws workspace.Workspace, lockFree bool, run func() error) error {
	start := time.Now()
	err := lk.recordRun(ctx, ws, lockFree, run)

	l, ok := terraform.LockOf(err)
	if !ok {
		return err
	}

	if lk.Locks.IsOwnAttempt(l, start) {
		// The words of the CLI have the ID of another attempt each time, which would be another Event, and name this instance
		// as the holder.
		return statelock.LockedError{Err: err, Lock: terraform.Lock{ID: terraform.HolderOf(err)}, Why: "the CLI does not say who holds it"}
	}

	why, removal, whyErr := lk.whyLocked(ctx, ws, l)
	if whyErr != nil {
		return errors.Join(err, whyErr)
	}

	if why != "" {
		return statelock.LockedError{Err: err, Lock: l, Why: why, Removal: removal, Lease: lk.lockLease(ws, l)}
	}

	// The lock goes last: until then no other process works on the state.
	if err := lk.states.rejectLateWrite(ctx, ws, l); err != nil {
		return err
	}

	if err := lk.unlock(ctx, ws, l); err != nil {
		return err
	}

	lk.Metrics.OrphanLockRemoved()
	lk.recorder.Event(ws, event.Warning(reasonUnlocked, errors.Errorf("removed the lock %s on the state, which %s made at %s for %s: the process that held it is dead", l.ID, l.Who, l.Created, l.Operation)))

	return lk.recordRun(ctx, ws, lockFree, run)
}

// lockLease returns the namespace and name of the Lease that locks the state of a Workspace, or an empty string. A
// lock of a run that makes a state may be on the state of the default Terraform workspace.
func (lk *locker) lockLease(ws workspace.Workspace, l terraform.Lock) string {
	b, here := lk.states.backendHere()
	if !here || l.MakesState() {
		return ""
	}

	return leaseKey(b, meta.GetExternalName(ws)).String()
}

// whyLocked says why a lock on the state of a Workspace is not to be removed, or is empty. removal is when
// it may be removed, if that is known.
func (lk *locker) whyLocked(ctx context.Context, ws workspace.Workspace, l terraform.Lock) (why string, removal time.Time, err error) {
	if workspace.OnlyObserves(ws) {
		return "this Workspace only observes the state", time.Time{}, nil
	}

	if why, removal := lk.Locks.WhyKept(ws, l, lk.now()); why != "" {
		return why, removal, nil
	}

	other, err := lk.holder(ctx, ws, l)
	if other == "" || err != nil {
		return "", time.Time{}, err
	}

	return "it may be held for " + other + ", which may use the same backend", time.Time{}, nil
}

// holder returns another Workspace that may hold the lock, or an empty string. An example is a
// copy whose creation has begun in the same empty state. The host name in the lock may be that of
// a dead predecessor and also of the instance that serves the other Workspace now. Such locks are
// rare enough to list all Workspaces for each.
func (lk *locker) holder(ctx context.Context, ws workspace.Workspace, l terraform.Lock) (string, error) {
	lineage := ""

	state, err := lk.cli.State(ctx)
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

	if lk.Locks.Users.UsedByOthers(meta.GetExternalName(ws)) {
		return "another Workspace with the same external name that this instance works on now", nil
	}

	holder := ""
	err = lk.eachWorkspace(ctx, func(other workspace.Workspace, description string) {
		if other.GetUID() != ws.GetUID() && workspace.MayWorkOn(other, lineage, workspace.TerraformWorkspace(ws)) && lk.Locks.IsServed(ctx, other, l.Host()) {
			holder = description
		}
	})

	return holder, errors.Wrap(err, "cannot find out whom the lock on the state belongs to")
}

// unlock removes a lock with the CLI or, if the CLI cannot remove it, through Kubernetes.
func (lk *locker) unlock(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	err := lk.cli.Unlock(ctx, l.ID)
	if err == nil {
		return nil
	}

	names := []string{meta.GetExternalName(ws)}
	// The CLI also makes the state of the default workspace, and removes locks only from the one
	// that is selected.
	if l.MakesState() {
		names = append(names, terraform.DefaultWorkspace)
	}

	const message = "the CLI cannot remove the lock with the ID %s. "

	b := lk.states.backend.KubernetesBackend()
	if b.Suffix == "" {
		return errors.Wrapf(err, message+"It is tried again. If it stays, remove the lock where the state is stored", l.ID)
	}

	var leases []string

	for _, name := range names {
		leases = append(leases, leaseKey(b, name).String())

		// A server of the tenant may say that it has a lock which another Workspace holds here.
		if b.Server != "" && b.Server != lk.server {
			continue
		}

		removed, kubeErr := lk.states.releaseLease(ctx, b, name, l)
		if removed {
			return nil
		}

		err = errors.Join(err, kubeErr)
	}

	return errors.Wrapf(err, message+"Remove the holder from the Lease with kubectl, in the cluster of the backend: %s", l.ID, strings.Join(leases, " or "))
}

// mayBeLocked says whether a dead process may have left a lock on the state of a Workspace. The
// state of a Workspace that is only observed is never unlocked.
func (lk *locker) mayBeLocked(ws workspace.Workspace) bool {
	if workspace.OnlyObserves(ws) {
		return false
	}

	r := lk.records.Get(ws)

	return lk.Locks.MayBeLocked(ws, r.Observed() && !r.Observation.Locked)
}

// recordRun calls run and records its time while it may leave a lock behind: during the run, which may be
// the end of this process, and after every failure, unless another run held the lock.
func (lk *locker) recordRun(ctx context.Context, ws workspace.Workspace, lockFree bool, run func() error) error {
	uid, runs := ws.GetUID(), lk.Locks.FailedRuns
	r := statelock.Run{Who: lk.Locks.Who(), Start: lk.now(), PlanWithoutLock: lockFree}

	runs.Record(uid, lk.cli.FailedRuns()...)

	// A plan without a lock takes one only to make the state. A poll does not write to the disk.
	if !lockFree || workspace.Remembered(ws).Lineage == "" {
		if err := lk.cli.WriteFailedRuns(ctx, append(runs.Of(uid), r), !lockFree); err != nil {
			return err
		}
	}

	err := run()

	switch {
	case err == nil && !lockFree:
		runs.Forget(uid)
	case err != nil && !terraform.IsLocked(err):
		r.End = lk.now()
		runs.Record(uid, r)
	}

	// If this fails, the record names a run that has ended, until the next run.
	_ = lk.cli.WriteFailedRuns(ctx, runs.Of(uid), false)

	return err
}
