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

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// An Inner reconciler works on the Workspaces of one kind.
type Inner interface {
	// Waits says whether there is nothing to do for a Workspace now, and when there may be. It may be an
	// older version than the one that Reconcile gets: a later version causes another event.
	Waits(o client.Object) (time.Duration, bool)

	// Reconcile a Workspace that this process may work on. latest says that o is what the API server had
	// just now, and not the content of a cache.
	Reconcile(ctx context.Context, o client.Object, latest bool) (reconcile.Result, error)

	// Forget what this process has found out about a Workspace under an earlier claim. Another one may have
	// worked on it since.
	Forget(o client.Object)

	// Add a request to the queue.
	Add(req reconcile.Request)
}

// A Reconciler passes on the requests for Workspaces of one kind that this instance may work on now.
type Reconciler struct {
	inner  Inner
	claims *Claims
	object client.Object
	kind   schema.GroupVersionKind
}

// Reconciler returns a Reconciler in front of inner, for Workspaces of the kind of the supplied
// empty object.
func (c *Claims) Reconciler(inner Inner, kind schema.GroupVersionKind, object client.Object) *Reconciler {
	c.waits.wakes(kind, inner.Add)

	return &Reconciler{inner: inner, claims: c, object: object, kind: kind}
}

// maxReads is how often a Workspace is read, in one reconcile, that changes all the time.
const maxReads = 3

// Reconcile reads the Workspace from the cache and decides. If something has to be done now, it claims the
// Workspace unless that is done, and passes it on.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if !r.claims.canRun() {
		return reconcile.Result{RequeueAfter: r.claims.RetryPeriod}, nil
	}

	name := ref{kind: r.kind, key: req.NamespacedName}

	for reads := range maxReads {
		o, ok := r.object.DeepCopyObject().(Object)
		if !ok {
			return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T has no claim", r.object))
		}

		reader := r.claims.cache
		if reads > 0 {
			reader = r.claims.kube
		}

		if err := reader.Get(ctx, req.NamespacedName, o); err != nil {
			if resource.IgnoreNotFound(err) == nil {
				// It may have begun to wait while it left the cache.
				r.claims.waits.forget(name)
				r.claims.held.leave(name, "")
			}

			return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get Workspace to find out whose it is")
		}

		if result, done, err := r.reconcile(ctx, name, o, reads > 0); done || err != nil {
			return result, err
		}
	}

	return reconcile.Result{RequeueAfter: r.claims.RetryPeriod}, nil
}

// reconcile decides about a Workspace that was read as o. It returns false if the Workspace has to be read
// from the API server.
func (r *Reconciler) reconcile(ctx context.Context, name ref, o Object, live bool) (reconcile.Result, bool, error) {
	s := r.claims.situation(ctx, name, o)
	a := Decide(s)

	switch a {
	case Wait:
		r.claims.notify(name, o, s)

		// Its end may have been seen before it was known that the Workspace waits for it.
		ended := r.claims.sessions.State(ctx, s.Claimed) == session.Dead

		return reconcile.Result{RequeueAfter: r.checkLater()}, !ended, nil
	case Release:
		r.claims.held.leave(name, "")

		return reconcile.Result{}, true, nil
	case Ignore:
		r.claims.waits.forget(name)

		return reconcile.Result{}, true, nil
	case Proceed, Take:
	}

	if after, waits := r.inner.Waits(o); waits {
		r.claims.idle(name, s)

		return reconcile.Result{RequeueAfter: after}, true, nil
	}

	if s.Me == (Claim{}) {
		// No conflict would reveal that the cache is behind.
		if !live {
			return reconcile.Result{}, false, nil
		}

		r.claims.handedOff(name, s)
		result, err := r.inner.Reconcile(ctx, o, true)

		return result, true, err
	}

	if a == Take {
		return r.take(ctx, name, o, s)
	}

	if !r.claims.held.begin(name, o.GetUID()) {
		return reconcile.Result{}, true, nil
	}
	defer r.claims.held.end(name)

	result, err := r.inner.Reconcile(ctx, o, live)

	return result, true, err
}

// take claims a Workspace and passes it on. It returns false if the Workspace has changed since.
func (r *Reconciler) take(ctx context.Context, name ref, o Object, s Situation) (reconcile.Result, bool, error) {
	if !r.claims.held.add(name, o.GetUID(), r.claims.isOther(s.Claimed)) {
		return reconcile.Result{RequeueAfter: r.claims.RetryPeriod}, true, nil
	}
	defer r.claims.held.end(name)

	taken, err := r.claims.take(ctx, name, o)
	if err != nil {
		r.claims.reportFailure(name, o, err)

		return reconcile.Result{}, true, err
	}

	if taken == nil {
		return reconcile.Result{}, false, nil
	}

	r.inner.Forget(taken)
	r.claims.handedOff(name, s)

	// It may have left since the decision.
	if !r.claims.held.begin(name, taken.GetUID()) {
		return reconcile.Result{}, true, nil
	}

	result, err := r.inner.Reconcile(ctx, taken, true)

	return result, true, err
}

// checkLater returns the delay of a check that events usually make unnecessary.
func (r *Reconciler) checkLater() time.Duration { return apiwait.Jitter(5*r.claims.RetryPeriod, 1) }
