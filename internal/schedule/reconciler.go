// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonWaiting event.Reason = "WaitingForApplySlot"

// A Reconciler passes on the Workspaces of one kind that need a reconcile now.
type Reconciler struct {
	inner    reconcile.Reconciler
	policy   Policy
	records  *Records
	slots    *Slots
	onLeave  func(o client.Object)
	now      func() time.Time
	recorder event.Recorder
	log      logging.Logger
}

// NewReconciler returns a Reconciler in front of inner. At the end of a reconcile, it calls onLeave
// if the Workspace has left the cache in the meantime.
func NewReconciler(inner reconcile.Reconciler, p Policy, r *Records, s *Slots, onLeave func(o client.Object), recorder event.Recorder, log logging.Logger) *Reconciler {
	return &Reconciler{inner: inner, policy: p, records: r, slots: s, onLeave: onLeave, now: time.Now, recorder: recorder, log: log}
}

// Waits says whether a Workspace has to wait because there is nothing to do, or no free slot, and
// returns the delay of its next reconcile. The Workspace may be an older version than the one that
// Reconcile gets: a later version causes another event. A Workspace that waits for a slot has a ticket
// afterwards. One with nothing to do has none.
func (r *Reconciler) Waits(o client.Object) (time.Duration, bool) {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return 0, false // Reconcile returns the error.
	}

	return r.delay(ws, r.policy.Decide(r.policy.Facts(ws), r.records.Get(ws), r.now()), r.slots.Available)
}

// delay says whether a Workspace has to wait, and for how long. slot says whether it has an apply slot.
func (r *Reconciler) delay(ws workspace.Workspace, d Decision, slot func(req reconcile.Request) bool) (time.Duration, bool) {
	req := RequestFor(ws)

	switch {
	case d.Action == Skip:
		r.slots.Cancel(req)

		return d.After, true
	case d.Action == ReconcileWithSlot && !slot(req):
		if r.slots.reportsWait(req) {
			r.recorder.Event(ws, event.Normal(reasonWaiting, fmt.Sprintf("Waiting for an apply slot, until others are created, changed or deleted: this instance does that with %d of a kind at a time, as --max-reconcile-rate and --max-applies say", r.slots.total)))
		}

		return ticketTimeout, true
	default:
		return 0, false
	}
}

// Forget drops what this instance has found out about a Workspace, so that its status decides what to do.
func (r *Reconciler) Forget(o client.Object) { r.records.ForgetResults(o) }

// Add puts a Workspace into the queue.
func (r *Reconciler) Add(req reconcile.Request) { r.slots.add(req) }

// RequestFor returns the request for a Workspace.
func RequestFor(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// Reconcile a Workspace, as its caller has read it. If it is the latest version, the managed reconciler need
// not read it again. After a creation or deletion, it is reconciled twice: see completed.
func (r *Reconciler) Reconcile(ctx context.Context, o client.Object, latest bool) (reconcile.Result, error) {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is not a Workspace", o))
	}

	req, f := RequestFor(ws), r.policy.Facts(ws)
	d := r.policy.Decide(f, r.records.Get(ws), r.now())

	if after, waits := r.delay(ws, d, r.slots.Acquire); waits {
		return reconcile.Result{RequeueAfter: after}, nil
	}

	if d.Action == Reconcile {
		r.slots.Cancel(req)
	}

	defer r.slots.Release(req)

	r.log.Debug("Reconciling, because "+d.Reason, "uid", ws.GetUID(), "namespace", ws.GetNamespace(), "name", ws.GetName())

	if latest {
		ctx = statusclient.WithLatest(ctx, ws)
	}

	ctx = statusclient.WithObject(ctx, ws)

	result, err := r.inner.Reconcile(ctx, req)
	if err == nil && result.Requeue && r.completed(statusclient.Written(ctx)) { //nolint:staticcheck // The managed reconciler sets it.
		result, err = r.inner.Reconcile(ctx, req)
	}

	if r.records.Get(ws).UID == "" {
		r.slots.Cancel(req) // The plan may have asked for a slot since.
		r.onLeave(ws)
	}

	// The queue decides after an error, and warns about a result beside it.
	if err != nil {
		return reconcile.Result{}, err
	}

	return r.next(ws, req, f, result), nil
}

// completed says whether a reconcile that ended with the supplied Workspace has created or destroyed
// its infrastructure. The managed reconciler then wants to observe it once more: for most resources,
// that was only the request. An apply or destroy is complete when it ends. If the Workspace had to wait
// in the queue for that, it would be gone only after all others.
func (r *Reconciler) completed(o client.Object) bool {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return false
	}

	f, record := r.policy.Facts(ws), r.records.Get(ws)

	return f.Synced && record.Observed() && (record.Observation.UpToDate || f.Deleted && !record.Observation.Exists)
}

// next returns when a Workspace is processed next, after the supplied result of a reconcile.
func (r *Reconciler) next(ws workspace.Workspace, req reconcile.Request, f Facts, result reconcile.Result) reconcile.Result {
	record, now := r.records.Get(ws), r.now()

	switch {
	// A paused Workspace is processed at its next change.
	case f.Paused:
		return result
	case r.slots.Waits(req):
		return reconcile.Result{RequeueAfter: ticketTimeout}
	case record.Failures.Count > 0 && record.Failures.Retry.After(now):
		return reconcile.Result{RequeueAfter: record.Failures.Retry.Sub(now)}
	// The poll interval counts from the observation, which may be older than this reconcile.
	case result.RequeueAfter > 0 && record.Observed():
		return reconcile.Result{RequeueAfter: max(r.policy.until(f, record.Observation.At, now), time.Millisecond)}
	// Nothing exists that the policies allow to observe. The managed reconciler would try again at once.
	case result.Requeue && f.mayOnlyWait(record) && !workspace.MayCreate(ws): //nolint:staticcheck // The managed reconciler sets it.
		return reconcile.Result{RequeueAfter: max(r.policy.until(f, record.Observation.At, now), time.Millisecond)}
	default:
		return result
	}
}

// mayOnlyWait says whether an observation that succeeded has found nothing, and nothing may be done about that but to create it.
func (f Facts) mayOnlyWait(r Record) bool {
	return r.Observed() && r.Observation.Desired == f.Desired && r.Failures.Count == 0 && !r.Observation.Exists && !f.Deleted && !f.MayUpdate
}
