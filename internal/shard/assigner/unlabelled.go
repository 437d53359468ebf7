// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// watch assigns Workspaces of one kind that have no label, until ctx is done or the watch fails.
// With SafeStart the kind may come later.
func (a *Assigner) watch(ctx context.Context, kind schema.GroupVersionKind, m *membership) error {
	_, err := a.Kube.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return nil
	}

	if err != nil {
		return err
	}

	model := &metav1.PartialObjectMetadata{}
	model.SetGroupVersionKind(kind)

	// This cache is not that of the manager, which selects the Workspaces of the shard.
	c, err := cache.New(a.Config, cache.Options{
		Scheme:           a.Kube.Scheme(),
		Mapper:           a.Kube.RESTMapper(),
		ByObject:         map[client.Object]cache.ByObject{model: {Label: shard.CatchAll().Selector()}},
		DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return errors.Wrap(err, "cannot make cache of Workspaces without a label")
	}

	name := "assigner/" + strings.ToLower(kind.GroupKind().String())

	ctl, err := controller.NewUnmanaged(name, controller.Options{
		// The instance may be elected again.
		SkipNameValidation: new(true),
		// No manager sets the logger of this controller. Without one, it would log neither errors
		// nor panics, and would repeat their reconciles for ever.
		Logger:                  log.FromContext(ctx),
		MaxConcurrentReconciles: writers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](interval, longestRetry),
		Reconciler:              a.reconciler(c, kind, m),
	})
	if err != nil {
		return errors.Wrap(err, "cannot make controller of Workspaces without a label")
	}

	if err := ctl.Watch(source.Kind(c, model, &handler.TypedEnqueueRequestForObject[*metav1.PartialObjectMetadata]{})); err != nil {
		return errors.Wrap(err, "cannot watch Workspaces without a label")
	}

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.Start(ctx) })
	g.Go(func() error { return ctl.Start(ctx) })

	return g.Wait()
}

// reconciler assigns one Workspace without a label.
func (a *Assigner) reconciler(c client.Reader, kind schema.GroupVersionKind, m *membership) reconcile.Func {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if members, _ := m.get(); len(members.Here) == 0 {
			return reconcile.Result{RequeueAfter: retryInterval}, nil
		}

		ws := &metav1.PartialObjectMetadata{}
		ws.SetGroupVersionKind(kind)

		if err := c.Get(ctx, req.NamespacedName, ws); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}

		// A change that made the write fail comes as an event. The end of the term of this assigner is no
		// error to log.
		if err := a.assign(ctx, ws, m); err != nil && ctx.Err() == nil {
			return reconcile.Result{}, err
		}

		// The last shard may have gone away since the check above, and no event follows when one comes
		// back. The next request for a Workspace that was assigned finds nothing in the cache, and ends.
		return reconcile.Result{RequeueAfter: retryInterval}, nil
	}
}
