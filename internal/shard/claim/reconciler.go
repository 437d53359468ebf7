// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// A Reconciler passes on the requests for Workspaces of one kind that this instance may work on now.
type Reconciler struct {
	inner  reconcile.ObjectReconciler[client.Object]
	claims *Claims
	reader client.Reader
	object client.Object
	kind   schema.GroupVersionKind
}

// Reconciler returns a Reconciler in front of inner, for Workspaces of the kind of the supplied
// empty object.
func (c *Claims) Reconciler(inner reconcile.ObjectReconciler[client.Object], kind schema.GroupVersionKind, object client.Object) *Reconciler {
	r := &Reconciler{inner: inner, claims: c, reader: c.cache, object: object, kind: kind}
	// An unsharded instance writes no claim, so no conflict would reveal a stale cache. It reads live
	// instead.
	if !c.sharded() {
		r.reader = c.kube
	}

	return r
}

// Reconcile reads the Workspace and decides. It passes the Workspace on if this instance may work
// on it now, and otherwise takes the action that was decided.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	name := ref{kind: r.kind, key: req.NamespacedName}

	o, ok := r.object.DeepCopyObject().(Object)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T has no claim", r.object))
	}

	if err := r.reader.Get(ctx, req.NamespacedName, o); err != nil {
		if resource.IgnoreNotFound(err) == nil {
			// It may have begun to wait while it left the cache.
			r.claims.waits.forget(name)
			r.claims.held.leave(name, "")
		}

		return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get Workspace to find out whose it is")
	}

	s := r.claims.situation(ctx, name, o)

	switch a := Decide(s); a {
	case Proceed:
		r.claims.handedOff(name, s)

		return r.proceed(ctx, name, o)
	case Take:
		taken, err := r.claims.take(ctx, name, o)
		if err != nil {
			r.claims.reportFailure(name, o, err)

			return reconcile.Result{}, err
		}

		if !taken {
			return reconcile.Result{RequeueAfter: r.claims.RetryPeriod}, nil
		}

		r.claims.handedOff(name, s)

		// The claim comes back as an event, which Changed accepts and which causes the next request. The
		// delay is for a watch that was interrupted while a person removed the claim, and so shows no change.
		// With a shorter delay, most creations would be followed by another reconcile, from a cache that does not
		// show the result yet.
		return reconcile.Result{RequeueAfter: r.checkLater()}, nil
	case Wait, WaitForUnsharded:
		return reconcile.Result{RequeueAfter: r.wait(name, o, a, s)}, nil
	case Release:
		r.claims.held.leave(name, "")
	case Ignore:
		r.claims.waits.forget(name)
	}

	return reconcile.Result{}, nil
}

// StillWaits decides again for a Workspace that waits. If it has to wait still, StillWaits returns the
// delay of its next check. o may come from the cache: a later change of its claim is another event. A
// check may read the Lease, but not the Workspace. For a Workspace that does not wait yet, the answer is
// false: most claims that an unsharded instance finds are those of dead instances, and StillWaits and
// Reconcile would both read their Leases.
func (r *Reconciler) StillWaits(ctx context.Context, o Object) (time.Duration, bool) {
	name := ref{kind: r.kind, key: client.ObjectKeyFromObject(o)}
	if !r.claims.waits.has(name, o.GetUID()) {
		return 0, false
	}

	s := r.claims.situation(ctx, name, o)
	if Decide(s) != Wait {
		return 0, false
	}

	return r.wait(name, o, Wait, s), true
}

// wait records that a Workspace waits, and returns the delay of its next check.
func (r *Reconciler) wait(name ref, o Object, a Action, s Situation) time.Duration {
	r.claims.notify(name, o, a, s)

	return r.checkLater()
}

// checkLater returns the delay of a check that events usually make unnecessary.
func (r *Reconciler) checkLater() time.Duration { return apiwait.Jitter(5*r.claims.RetryPeriod, 1) }

// proceed passes a Workspace on, unless it has left since the decision.
func (r *Reconciler) proceed(ctx context.Context, name ref, o client.Object) (reconcile.Result, error) {
	if r.claims.sharded() {
		if !r.claims.held.begin(name, o.GetUID()) {
			return reconcile.Result{}, nil
		}
		defer r.claims.held.end(name)
	}

	return r.inner.Reconcile(ctx, o)
}
