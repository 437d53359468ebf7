// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gate asks, before every reconcile of a Workspace, whether this instance
// may run it. The controller behind it has never heard of shards.
package gate

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A Reconciler passes on the requests for objects that this instance serves.
type Reconciler struct {
	inner  reconcile.Reconciler
	cache  client.Reader
	object client.Object
	id     shard.ID
}

// NewReconciler returns a Reconciler in front of inner. It reads the objects, of
// the kind of the supplied empty object, from cache: a reader that sees what the
// instance is meant to serve and nothing else.
func NewReconciler(inner reconcile.Reconciler, cache client.Reader, object client.Object, id shard.ID) *Reconciler {
	return &Reconciler{inner: inner, cache: cache, object: object, id: id}
}

// Reconcile drops requests for objects that do not exist (any more) or belong to
// another instance. The cache alone does not ensure this: a request that was
// queued with a delay, for the next poll say, outlives a change of the label.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o, ok := r.object.DeepCopyObject().(client.Object)
	if !ok {
		return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is not an object", r.object))
	}

	if err := r.cache.Get(ctx, req.NamespacedName, o); err != nil {
		return reconcile.Result{}, errors.Wrap(resource.IgnoreNotFound(err), "cannot get object to find its shard")
	}

	if !r.id.Serves(o.GetLabels()) {
		return reconcile.Result{}, nil
	}

	return r.inner.Reconcile(ctx, req)
}
