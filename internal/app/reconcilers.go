// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

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
// instance may work on it. The returned function is for Workspaces that have left the cache.
func (i *instance) withClaims(r scheduler, kind workspace.Kind) (reconcile.Reconciler, func(client.Object)) {
	if i.o.Shard.Sharded() {
		claimed := i.claims.Reconciler(r, kind.GroupVersionKind, kind.Object)

		return claimed, claimed.Left
	}

	claimed := i.claims.Reconciler(withLatest(r), kind.GroupVersionKind, kind.Object)

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
	}), kind), claimed.Left
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
