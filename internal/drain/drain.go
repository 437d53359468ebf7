// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package drain lets reconciles that are in progress finish while the process shuts down.
// controller-runtime cancels the context of a reconcile as soon as the manager stops. An apply that
// has just created infrastructure could then write neither its status nor its annotations.
package drain

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var _ manager.Runnable = &Drain{}

// A Drain decorates reconcilers. It is added to the same manager, and keeps the manager from
// stopping until all of their reconciles have ended. The caller calls Stop as soon as the shutdown
// begins: Start learns of it late, when the runnables that need no leader election have returned.
//
// It relies on the order in which a manager stops, which is that of engageStopProcedure in
// controller-runtime's pkg/manager/internal.go (v0.25.2): first the runnables that need no leader
// election, then all others, including controllers and the Drain, and then the caches. So everything that a
// reconcile in progress needs is available until Start returns.
//
// A manager does not wait if its GracefulShutdownTimeout expires, so that must be negative: no limit. Nor
// does it wait if it fails. Therefore the caller calls Wait before it ends the session.
type Drain struct {
	grace, limit time.Duration

	// These are not the contexts of calls, but lifetimes of all CLI runs and of all reconciles: see Runs
	// and Abort.
	runs, reconciles             context.Context //nolint:containedctx // See above.
	cancelRuns, cancelReconciles context.CancelFunc

	// No reconcile is added to inFlight once stopping is true, so that a wait for inFlight covers all
	// reconciles.
	mu       sync.Mutex
	stopping bool
	inFlight sync.WaitGroup
}

// New returns a Drain that lets CLI runs in progress continue for at most grace after the
// shutdown began, and reconciles for at most limit after Abort.
func New(grace, limit time.Duration) *Drain {
	d := &Drain{grace: grace, limit: limit}
	d.runs, d.cancelRuns = context.WithCancel(context.Background())
	d.reconciles, d.cancelReconciles = context.WithCancel(context.Background()) //nolint:gosec // Abort calls it.

	return d
}

// Runs returns the context that ends CLI runs at a shutdown. It is canceled when grace is over,
// or earlier when nothing is in progress. It does not cancel reconciles: one whose run was
// interrupted still has to record that.
func (d *Drain) Runs() context.Context { return d.runs }

// Reconciler returns inner, except that its reconciles are not canceled when the manager stops, and
// that none begins once the manager is stopping. Those report success without a requeue: the queue ends
// with the process. The deadline of a ReconciliationTimeout would be lost.
func (d *Drain) Reconciler(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		// The workers empty their queue after the shutdown began, with a context that is done.
		if ctx.Err() != nil {
			return reconcile.Result{}, nil
		}

		if !d.begin() {
			return reconcile.Result{}, nil
		}
		defer d.inFlight.Done()

		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(d.reconciles, cancel)()

		return inner.Reconcile(ctx, req)
	})
}

// Stop begins the shutdown: no further reconcile begins, and CLI runs in progress end when grace is
// over. The first of several calls counts. It does not block.
func (d *Drain) Stop() {
	d.stop()
	time.AfterFunc(d.grace, d.cancelRuns)
}

// Start waits until ctx is done and then until no reconcile is in progress. When it returns, none
// is, and none will ever begin.
func (d *Drain) Start(ctx context.Context) error {
	<-ctx.Done()
	// A manager also stops by itself, without a call of Stop.
	d.Stop()
	d.inFlight.Wait()
	d.cancelRuns()

	return nil
}

// Abort is for an instance whose session is over. It ends CLI runs in progress at once, and lets
// nothing begin. Reconciles that take longer than the limit, because they wait for an answer of the API
// server, are canceled. Abort does not block.
func (d *Drain) Abort() {
	d.stop()
	d.cancelRuns()
	time.AfterFunc(d.limit, d.cancelReconciles)
}

// Wait waits until no reconcile is in progress, and none will ever begin.
func (d *Drain) Wait() {
	d.stop()
	d.inFlight.Wait()
}

// begin adds a reconcile to those in flight, unless the Drain is stopping.
func (d *Drain) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	if !d.stopping {
		d.inFlight.Add(1)
	}

	return !d.stopping
}

// stop makes sure that no further reconcile begins.
func (d *Drain) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.stopping = true
}
