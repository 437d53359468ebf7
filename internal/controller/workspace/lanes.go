// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// laneTimeout is after how long a Workspace that waits for a lane asks again,
// although it would have been called.
const laneTimeout = 30 * time.Second

// lanes limit how many applies run at once, so that long ones never take all
// workers: polls go on beside them. A Workspace that has to wait for a lane does not
// wait in a worker; it is called when it is its turn. Lanes are safe for concurrent
// use.
type lanes struct {
	memory *memory

	mu      sync.Mutex
	free    int
	waiting *queue.FairQueue[reconcile.Request]

	// called are those that a lane is kept for until they come: one that has just
	// come to the queue must not get ahead of them. None of them waits.
	called map[reconcile.Request]bool

	// call a Workspace that waits.
	call func(reconcile.Request)
}

func newLanes(n int, w *watch) *lanes {
	return &lanes{
		memory:  w.memory,
		free:    n,
		waiting: queue.NewFairQueue(w.class),
		called:  map[reconcile.Request]bool{},
		call:    func(reconcile.Request) {},
	}
}

// arrive returns the lane of a reconcile that begins. One that was called has got
// its own, whether or not it still needs it.
func (l *lanes) arrive(req reconcile.Request) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()

	return &lane{lanes: l, req: req, held: l.accept(req)}
}

// accept the lane that is kept for a Workspace, if there is one.
func (l *lanes) accept(req reconcile.Request) bool {
	called := l.called[req]
	delete(l.called, req)

	return called
}

// enter a lane, or wait to be called if none is free. None is as long as others wait.
func (l *lanes) enter(req reconcile.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	switch {
	case l.accept(req):
		return true
	case l.free > 0:
		l.free--

		return true
	case l.waiting.Has(req):
		l.waiting.Touch(req)
	default:
		l.waiting.Push(req)
	}

	return false
}

// leave the lane, if there is one to leave, to the next one that waits.
func (l *lanes) leave(mine *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()

	switch {
	case !mine.held:
	case l.waiting.Len() == 0:
		l.free++
	default:
		next := l.waiting.Pop()
		l.called[next] = true
		l.call(next)
	}
}

// A lane is what one reconcile has of the lanes. The zero value is without limit.
type lane struct {
	lanes *lanes
	req   reconcile.Request
	held  bool
}

// enter the lane if that was not done before.
func (l *lane) enter() bool {
	if l.lanes == nil || l.held {
		return true
	}

	l.held = l.lanes.enter(l.req)

	return l.held
}

type laneKey struct{}

// laneOf returns the lane of the reconcile with the supplied context.
func laneOf(ctx context.Context) *lane {
	if l, ok := ctx.Value(laneKey{}).(*lane); ok {
		return l
	}

	return &lane{}
}

// outermost returns a reconciler around inner that gives each reconcile its lane and
// takes it back. Nothing is between it and the queue: whatever keeps a Workspace that
// was called from being applied, another one gets the lane.
func (l *lanes) outermost(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		mine := l.arrive(req)
		defer l.leave(mine)

		return inner.Reconcile(context.WithValue(ctx, laneKey{}, mine), req)
	})
}

// reconciler returns one in front of inner that lets those Workspaces wait that are
// going to be applied, as far as that can be known before there is a plan.
func (l *lanes) reconciler(inner reconcile.Reconciler, kube client.Client, kind workspace.Kind) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		ws, err := get(ctx, kube, kind, req)
		if ws == nil || err != nil {
			return reconcile.Result{}, err
		}

		if l.needed(ws) && !laneOf(ctx).enter() {
			return reconcile.Result{RequeueAfter: laneTimeout}, nil
		}

		return inner.Reconcile(ctx, req)
	})
}

// needed says whether a Workspace is going to be applied or destroyed.
func (l *lanes) needed(ws workspace.Workspace) bool {
	if meta.IsPaused(ws) || workspace.OnlyObserves(ws) {
		return false
	}

	seen, ok := l.memory.recall(ws.GetUID())

	switch {
	case meta.WasDeleted(ws):
		return !ok || seen.exists
	case ok && !seen.upToDate:
		return true
	default:
		return !workspace.Owns(ws) || ws.GetCondition(xpv2.TypeReady).ObservedGeneration != ws.GetGeneration()
	}
}
