// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A watch turns events about Workspaces into requests, and knows how urgent each
// is. It is safe for concurrent use.
type watch struct {
	memory  *memory
	staller *staller

	// left is told which Workspaces have left the cache.
	left func(o client.Object)

	// wanted says which updates ask for a reconcile. Most of the status do not, but they
	// change what is urgent.
	wanted predicate.Predicate

	mu     sync.Mutex
	cached map[reconcile.Request]cached
}

// What is in the cache under a name.
type cached struct {
	uid   types.UID
	class queue.Class

	// desired is the digest of what people have written on it, and tried what that was
	// when it was last reconciled, empty if it was not.
	desired, tried string
}

// newWatch returns a watch. An update asks for a reconcile if the desired state has
// changed, or if one of the supplied predicates accepts it.
func newWatch(m *memory, s *staller, left func(o client.Object), also ...predicate.Predicate) *watch {
	wanted := predicate.Or(append([]predicate.Predicate{resource.DesiredStateChanged()}, also...)...)

	return &watch{memory: m, staller: s, left: left, wanted: wanted, cached: map[reconcile.Request]cached{}}
}

// newQueue is controller.Options.NewQueue.
func (w *watch) newQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{
			Name: name,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{
				Name:  name,
				Queue: queue.NewFairQueue(w.class),
			}),
		}),
	})
}

// class of a request, as of the last event about its Workspace.
func (w *watch) class(req reconcile.Request) queue.Class {
	w.mu.Lock()
	defer w.mu.Unlock()

	c := w.cached[req]

	// People wait for the look that they have asked for.
	if c.tried != "" && c.tried != c.desired {
		c.class.Priority = queue.Urgent
	}

	return c.class
}

// has says whether the cache has a Workspace.
func (w *watch) has(o client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.cached[reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}].uid == o.GetUID()
}

// expressway returns a reconciler that passes polls on to limited, and all others to
// inner. Polls in large numbers use up what a rate limit allows, and what was put off by
// it has lost its place in the queue: people wait for what is urgent, and what is no poll
// costs nothing, such as the first look of an instance that has just started.
func (w *watch) expressway(inner, limited reconcile.Reconciler, kube client.Client, kind workspace.Kind, isPoll func(workspace.Workspace) bool) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if w.class(req).Priority == queue.Urgent {
			return inner.Reconcile(ctx, req)
		}

		ws, err := get(ctx, kube, kind, req)
		if ws == nil || err != nil {
			return reconcile.Result{}, err
		}

		if !isPoll(ws) {
			return inner.Reconcile(ctx, req)
		}

		return limited.Reconcile(ctx, req)
	})
}

func (w *watch) note(o client.Object) reconcile.Request {
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}

	if ws, ok := o.(workspace.Workspace); ok {
		w.mu.Lock()
		defer w.mu.Unlock()

		now := cached{uid: ws.GetUID(), class: classify(ws), desired: desired(ws)}
		if was := w.cached[req]; was.uid == now.uid {
			now.tried = was.tried
		}

		w.cached[req] = now
	}

	return req
}

// reconciled notes that the supplied version of a Workspace was reconciled.
func (w *watch) reconciled(ws workspace.Workspace) {
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ws)}

	w.mu.Lock()
	defer w.mu.Unlock()

	if c := w.cached[req]; c.uid == ws.GetUID() {
		c.tried = desired(ws)
		w.cached[req] = c
	}
}

func (w *watch) forget(o client.Object) reconcile.Request {
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}

	w.mu.Lock()
	defer w.mu.Unlock()

	delete(w.cached, req)

	return req
}

// startAfresh with a Workspace: nothing that was seen of it before counts.
func (w *watch) startAfresh(o client.Object) {
	w.memory.forget(o.GetUID())
	w.staller.succeeded(o.GetUID())
}

// reconciler returns one in front of inner. A Workspace may leave the cache while inner
// works on it: then what inner remembers of it is forgotten once more.
func (w *watch) reconciler(inner reconcile.Reconciler, kube client.Client, kind workspace.Kind) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		ws, err := get(ctx, kube, kind, req)
		if ws == nil || err != nil {
			return reconcile.Result{}, err
		}

		defer func() {
			w.reconciled(ws)

			if !w.has(ws) {
				w.startAfresh(ws)
				w.left(ws)
			}
		}()

		return inner.Reconcile(ctx, req)
	})
}

// handler returns the event handler. What is remembered of a Workspace that leaves
// the cache or enters it is forgotten: one that was relabelled away and back was
// somebody else's meanwhile.
func (w *watch) handler() handler.EventHandler {
	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q requests) {
			w.startAfresh(e.Object)
			q.Add(w.note(e.Object))
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q requests) {
			if req := w.note(e.ObjectNew); w.wanted.Update(e) {
				q.Add(req)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q requests) {
			// First, so that a reconcile that ends now does not miss it.
			req := w.forget(e.Object)

			w.startAfresh(e.Object)
			w.left(e.Object)
			q.Add(req)
		},
	}
}

// classify a Workspace: people wait for those that are new, changed, asked for or
// being deleted, until it was tried once.
func classify(ws workspace.Workspace) queue.Class {
	c := queue.Class{Tenant: tenantOf(ws)}

	if isUrgent(ws) {
		c.Priority = queue.Urgent
	}

	return c
}

func isUrgent(ws workspace.Workspace) bool {
	synced := ws.GetCondition(xpv2.TypeSynced)
	tried := synced.Status != corev1.ConditionUnknown && synced.ObservedGeneration == ws.GetGeneration()

	if !tried {
		return true
	}

	if token, ok := xpmeta.GetReconcileRequest(ws); ok && token != ws.GetLastHandledReconcileAt() {
		return true
	}

	// What failed is tried again, but nobody else has to wait for that.
	return synced.Status == corev1.ConditionTrue && (xpmeta.WasDeleted(ws) || ws.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue)
}

// tenantOf returns whom a Workspace belongs to: its namespace, or the ProviderConfig
// of one that has no namespace.
func tenantOf(ws workspace.Workspace) string {
	if ns := ws.GetNamespace(); ns != "" {
		return ns
	}

	ref, _ := providerconfig.RefOf(ws)

	return ref.Name
}
