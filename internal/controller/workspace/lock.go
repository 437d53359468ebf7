// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonUnlocked event.Reason = "RemovedOrphanLock"

// Predecessors are the instances that worked on a Workspace before this one and
// died, so that a lock on its state may be left of them.
type Predecessors struct {
	// Hosts on which they were.
	Hosts []string

	// Until is when this instance took over. What is locked later on this host is
	// locked by this instance, or by a person.
	Until time.Time
}

// An orphanage tells which locks nobody holds any more.
type orphanage struct {
	// host of this instance.
	host string

	// predecessors that worked on a Workspace.
	predecessors func(o client.Object) Predecessors

	// failures of runs of this instance.
	failures *Failures

	// states that this instance works with.
	states *States
}

// orphaned says whether a lock on the state of a Workspace is left of an instance
// that is dead. Whatever else holds it may be alive, and knows why.
func (o orphanage) orphaned(ws client.Object, l terraform.Lock) bool {
	host := l.Host()
	if host == "" {
		return false
	}

	p := o.predecessors(ws)
	dead := slices.Contains(p.Hosts, host)

	if host != o.host {
		return dead
	}

	since, err := l.Since()
	if err != nil {
		return false
	}

	return (dead && since.Before(p.Until)) || o.failures.left(ws.GetUID(), l, since)
}

// wanted says whether a lock is the one that a run, which began at the supplied time,
// wanted to have: with some backends the CLI tells of that instead of the one that
// is there.
func (o orphanage) wanted(l terraform.Lock, start time.Time) bool {
	since, err := l.Since()

	return err == nil && l.Host() == o.host && !since.Before(start)
}

// unlocked calls run, a plan without a lock. Even that may be refused: some backends take
// a lock to make a state where there is none.
func (e *external) unlocked(ctx context.Context, ws workspace.Workspace, run func() error) error {
	return e.insist(ctx, ws, true, run)
}

// insist calls run. If that is refused because of a lock that nobody holds any more, it
// removes the lock and calls run again.
func (e *external) insist(ctx context.Context, ws workspace.Workspace, plan bool, run func() error) error {
	start := time.Now()
	err := e.counted(ws, plan, run)

	l, ok := terraform.LockOf(err)
	if !ok || e.orphans.wanted(l, start) {
		return err
	}

	if !e.mayUnlock(ws, l) {
		return lockedError{error: err, lock: l}
	}

	if err := e.unlock(ctx, ws, l); err != nil {
		return err
	}

	e.record.Event(ws, event.Warning(reasonUnlocked, errors.Errorf("removed the lock %s on the state, which %s made at %s for %s: the process that held it is dead", l.ID, l.Who, l.Created, l.Operation)))

	return e.counted(ws, plan, run)
}

// mayUnlock says whether a lock on the state of a Workspace is to be removed. Another
// Workspace may use the same state, and hold it.
func (e *external) mayUnlock(ws workspace.Workspace, l terraform.Lock) bool {
	return !workspace.OnlyObserves(ws) && e.orphans.orphaned(ws, l) && !e.orphans.states.shared(meta.GetExternalName(ws))
}

// unlock removes a lock with the CLI or, where that cannot do it, without.
func (e *external) unlock(ctx context.Context, ws workspace.Workspace, l terraform.Lock) error {
	err := e.runner.Unlock(ctx, l.ID)
	if err == nil || !terraform.IsLocked(err) {
		return err
	}

	removed, kubeErr := unlockKubernetes(ctx, e.conflicts.live, e.kube, meta.GetExternalName(ws), l)
	if removed {
		return nil
	}

	return errors.Wrap(errors.Join(err, kubeErr), "the CLI cannot remove a lock that was made before the state was. With the kubernetes backend, delete the Lease lock-tfstate-*")
}

// suspects says whether a lock may be left on the state of a Workspace: of an instance
// before this one, unless this one has looked since, or of a run of this one.
func (o orphanage) suspects(ws workspace.Workspace, m *memory) bool {
	// It could do nothing about it.
	if workspace.OnlyObserves(ws) {
		return false
	}

	l, ok := m.recall(ws.GetUID())
	looked := ok && !l.told

	return (!looked && len(o.predecessors(ws).Hosts) > 0) || o.failures.Any(ws.GetUID())
}

// counted calls run and remembers when, if it may have left a lock behind.
func (e *external) counted(ws workspace.Workspace, plan bool, run func() error) error {
	start := time.Now()

	err := run()
	if err != nil && !terraform.IsLocked(err) {
		e.orphans.failures.add(ws.GetUID(), span{start: start, end: time.Now(), plan: plan})
	}

	return err
}

// locking calls run, which needs the lock on the state. Once it has succeeded, nothing is
// left of the failures before it. A plan without a lock tells nothing of that kind.
func (e *external) locking(ctx context.Context, ws workspace.Workspace, run func() error) error {
	err := e.insist(ctx, ws, false, run)
	if err == nil {
		e.orphans.failures.Forget(ws.GetUID())
	}

	return err
}

// A lockedError is the refusal to work with a state that is locked, in the words
// that people need to do something about it.
type lockedError struct {
	error

	lock terraform.Lock
}

func (e lockedError) Error() string {
	return fmt.Sprintf("the state is locked by %s since %s, for %s (lock ID %s): it is left alone, because it was not left behind by a dead instance of this provider. If nobody holds it any more, remove it with force-unlock",
		e.lock.Who, e.lock.Created, e.lock.Operation, e.lock.ID)
}

func (e lockedError) Unwrap() error { return e.error }
