// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A scheduler is the reconciler of a kind of Workspace: a schedule.Reconciler.
type scheduler interface {
	reconcile.ObjectReconciler[client.Object]

	Waits(o client.Object) (time.Duration, bool)
}

// withClaims returns a reconciler that reads each Workspace of a kind, and passes it to r if this
// instance may work on it.
func (i *instance) withClaims(ctx context.Context, r scheduler, kind workspace.Kind) (reconcile.Reconciler, error) {
	if i.o.Shard.Sharded() {
		return i.claimReconciler(ctx, r, kind)
	}

	claimed, err := i.claimReconciler(ctx, withLatest(r), kind)
	if err != nil {
		return nil, err
	}

	// The claims of an unsharded instance read each Workspace from the API server. Most need
	// nothing when it starts, and many have to wait when a lot are created. One that another
	// instance has claimed must not wait for a slot: when it got one, it would not use it.
	return readFrom(i.mgr.GetCache(), reconcile.TypedFunc[client.Object](func(ctx context.Context, o client.Object) (reconcile.Result, error) {
		if ws, ok := o.(workspace.Workspace); ok && ws.GetOwnership().Claim == nil {
			if after, waits := r.Waits(o); waits {
				return reconcile.Result{RequeueAfter: after}, nil
			}
		}

		return claimed.Reconcile(ctx, schedule.RequestFor(o))
	}), kind), nil
}

// claimReconciler returns a claim.Reconciler in front of r that also releases Workspaces when they
// leave the cache.
func (i *instance) claimReconciler(ctx context.Context, r reconcile.ObjectReconciler[client.Object], kind workspace.Kind) (reconcile.Reconciler, error) {
	claimed := i.claims.Reconciler(r, kind.GroupVersionKind, kind.Object)

	informer, err := i.mgr.GetCache().GetInformer(ctx, kind.Object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch which Workspaces leave")
	}

	_, err = informer.AddEventHandler(claimed.Handler())

	return claimed, errors.Wrap(err, "cannot watch which Workspaces leave")
}

// withLatest returns a reconciler that passes on objects that were read from the API server just
// now: the managed reconciler need not read them again.
func withLatest(r reconcile.ObjectReconciler[client.Object]) reconcile.ObjectReconciler[client.Object] {
	return reconcile.TypedFunc[client.Object](func(ctx context.Context, o client.Object) (reconcile.Result, error) {
		return r.Reconcile(statusclient.WithLatest(ctx, o), o)
	})
}

// readFrom returns a reconciler that reads each Workspace and passes it on.
func readFrom(cache client.Reader, r reconcile.ObjectReconciler[client.Object], kind workspace.Kind) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		o, ok := kind.Object.DeepCopyObject().(client.Object)
		if !ok {
			return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is no object", kind.Object))
		}

		if err := cache.Get(ctx, req.NamespacedName, o); err != nil {
			return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Workspace")
		}

		return r.Reconcile(ctx, o)
	})
}
