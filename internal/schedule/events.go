// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"maps"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// NewQueue returns a work queue in which urgent Workspaces precede due polls. A Workspace is added to it
// when an apply slot is free for it.
func NewQueue(name string, limiter workqueue.TypedRateLimiter[reconcile.Request], r *Records, s *Slots) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	q := workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[reconcile.Request]{
			Name: name,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{
				Name:  name,
				Queue: queue.NewFairQueue(r.class),
			}),
		}),
	})

	s.setQueue(q)

	return q
}

// isChange says whether an update changed labels, or was made by a person. The annotations of a creation
// do not count: otherwise each Workspace would be reconciled once more as soon as it is created.
func isChange(e event.UpdateEvent) bool {
	return Desired(e.ObjectOld) != Desired(e.ObjectNew) || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
}

// NewEventHandler returns a handler of events about Workspaces. An update puts a Workspace into
// the queue if people have changed it, or if also accepts it. The handler calls onLeave with each
// Workspace that has left the cache.
func NewEventHandler(r *Records, s *Slots, onLeave func(o client.Object), also predicate.Predicate) handler.EventHandler {
	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

	forget := func(o client.Object) {
		r.Forget(o)
		s.Cancel(RequestFor(o))
		onLeave(o)
	}

	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q requests) {
			if ws, ok := e.Object.(workspace.Workspace); ok {
				r.Begin(ws)
			}

			q.Add(RequestFor(e.Object))
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q requests) {
			// A cache that was without a watch reports a Workspace that was deleted and created again
			// as updated.
			ws, ok := e.ObjectNew.(workspace.Workspace)
			replaced := e.ObjectOld.GetUID() != e.ObjectNew.GetUID()

			switch {
			case ok && replaced:
				forget(e.ObjectOld)
				r.Begin(ws)
			case ok:
				r.Update(ws)
			}

			if replaced || isChange(e) || also.Update(e) {
				q.Add(RequestFor(e.ObjectNew))
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q requests) {
			// This goes first, so that a reconcile that ends now sees it.
			forget(e.Object)
			q.Add(RequestFor(e.Object))
		},
	}
}
