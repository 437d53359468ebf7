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
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// watch assigns Workspaces without a label until ctx is done.
func (a *Assigner) watch(ctx context.Context, m *membership) error {
	g, ctx := errgroup.WithContext(ctx)

	for _, kind := range a.Kinds {
		g.Go(func() error {
			if err := a.awaitKind(ctx, kind); err != nil {
				return err
			}

			return a.watchKind(ctx, kind, m)
		})
	}

	return g.Wait()
}

// awaitKind waits until the API server has the kind: with SafeStart it may come later.
func (a *Assigner) awaitKind(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, found := context.WithCancel(ctx)
	defer found()

	return periodic.Task{
		Interval: interval,
		AtOnce:   true,
		Do: func(context.Context) error {
			_, err := a.Kube.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
			if err == nil {
				found()
			}

			return client.IgnoreNotFound(ignoreNoMatch(err))
		},
		Failed: func(err error) { a.Log.Info("Cannot find out whether a kind exists", "kind", kind, "error", err) },
	}.Start(ctx)
}

func ignoreNoMatch(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}

	return err
}

// watchKind assigns Workspaces of one kind.
func (a *Assigner) watchKind(ctx context.Context, kind schema.GroupVersionKind, m *membership) error {
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

	// The instance may be elected again.
	ctl, err := controller.NewUnmanaged(name, controller.Options{
		SkipNameValidation:      new(true),
		MaxConcurrentReconciles: writers,
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
		members := m.get()
		if len(members) == 0 {
			return reconcile.Result{RequeueAfter: interval}, nil
		}

		ws := &metav1.PartialObjectMetadata{}
		ws.SetGroupVersionKind(kind)

		if err := c.Get(ctx, req.NamespacedName, ws); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}

		done, err := a.assign(ctx, ws, members)
		if done {
			a.Metrics.Moved(1)
		}

		return reconcile.Result{}, err
	}
}
