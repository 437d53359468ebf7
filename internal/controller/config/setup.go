// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package config has the controllers of ProviderConfigs: they count the Workspaces that use each,
// and prevent the deletion of a ProviderConfig in use.
//
// The reconciler is that of crossplane-runtime. Every instance runs it, and every instance sees
// the usages of all shards, because usages have no shard label. All instances write the same
// count when their caches are up to date.
package config

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpproviderconfig "github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

const (
	// settle is the interval of counts. During the creation of a thousand Workspaces, each shard
	// counts them once a second, not a thousand times.
	settle = time.Second

	// spread separates the instances of several shards, which see an event at the same time. Without
	// it, all of them would write the same, and all but one would have a conflict; during the
	// deletion of a ProviderConfig all of them would list the Workspaces of its kind.
	spread = settle / 4

	// retryInterval limits the delay of the reconciler after a conflict with another instance, or
	// for a Workspace without a usage, whose deletion no watch reports. The reconciler itself
	// waits for 30 seconds.
	retryInterval = 10 * time.Second
)

// Setup adds a controller for the supplied kind of ProviderConfig.
func Setup(mgr manager.Manager, kind providerconfig.Kind, o controller.Options) error {
	name := xpproviderconfig.ControllerName(kind.Config.GroupKind().String())
	// The legacy recorder: providers are not granted events of events.k8s.io.
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(name)) //nolint:staticcheck // See above.

	return errors.Wrapf(builder.ControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		Watches(kind.Object, delayed(&handler.EnqueueRequestForObject{}, soon)).
		Watches(kind.Usage, delayed(&resource.EnqueueRequestForProviderConfig{Kind: kind.Config.Kind}, usersDelay)).
		Complete(newReconciler(mgr, kind, recorder, o.Logger.WithValues("controller", name))), "cannot set up controller %s", name)
}

// newReconciler returns the stock reconciler, which does not release a ProviderConfig that the
// guard keeps. Instances of several shards write the same ProviderConfigs, so that conflicts are
// normal and not logged as errors.
func newReconciler(mgr manager.Manager, kind providerconfig.Kind, recorder event.Recorder, log logging.Logger) reconcile.Reconciler {
	guarded := &guardedManager{Manager: mgr, guard: &guard{Client: mgr.GetClient(), live: mgr.GetAPIReader(), kind: kind, recorder: recorder}}
	stock := xpproviderconfig.NewReconciler(guarded, kind.ProviderConfigKinds, xpproviderconfig.WithLogger(log), xpproviderconfig.WithRecorder(stockRecorder{recorder}))

	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		res, err := stock.Reconcile(ctx, req)
		res.RequeueAfter = min(res.RequeueAfter, retryInterval)

		return errors.SilentlyRequeueOnConflict(res, err)
	})
}

// A guardedManager is a manager whose client is a guard.
type guardedManager struct {
	manager.Manager

	guard *guard
}

// GetClient returns the guard.
func (m *guardedManager) GetClient() client.Client { return m.guard }

// soon is the delay after a change of a ProviderConfig. A new ProviderConfig has no finalizer yet, and
// its deletion does not wait for the Workspaces that use it. The delay is so short that a Workspace
// has usually not applied anything by then.
func soon() time.Duration { return rand.N(spread) } //nolint:gosec // No secret.

// usersDelay is the delay after a change of the users of a ProviderConfig. It ends after the next full
// second: the first instance then writes the count for all, and the others find it in their caches.
func usersDelay() time.Duration {
	now := time.Now()

	return now.Truncate(settle).Add(settle + soon()).Sub(now)
}

// A delayedQueue adds requests after a delay, once for all changes in that time.
type delayedQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	delay func() time.Duration
}

// Add a request after the delay.
func (q delayedQueue) Add(req reconcile.Request) { q.AddAfter(req, q.delay()) }

// delayed returns a handler that adds its requests after a delay.
func delayed(h handler.EventHandler, delay func() time.Duration) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e kevent.CreateEvent, q resource.RateLimitingInterface) {
			h.Create(ctx, e, delayedQueue{q, delay})
		},
		UpdateFunc: func(ctx context.Context, e kevent.UpdateEvent, q resource.RateLimitingInterface) {
			h.Update(ctx, e, delayedQueue{q, delay})
		},
		DeleteFunc: func(ctx context.Context, e kevent.DeleteEvent, q resource.RateLimitingInterface) {
			h.Delete(ctx, e, delayedQueue{q, delay})
		},
	}
}
