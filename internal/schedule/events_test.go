// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// A slowest limiter delays everything.
type slowest struct {
	workqueue.TypedRateLimiter[reconcile.Request]

	asked []reconcile.Request
}

func (l *slowest) When(req reconcile.Request) time.Duration {
	l.asked = append(l.asked, req)

	return time.Hour
}

func TestNewQueue(t *testing.T) {
	t.Parallel()

	r := NewRecords(Policy{Interval: time.Minute}, time.Now)
	s := NewSlots(1, r, func(int, int) {}, func(time.Duration) {})
	l, req := &slowest{}, requestOf("ws")
	q := NewQueue("test", l, r, s)
	t.Cleanup(q.ShutDown)

	q.AddRateLimited(req)

	if diff := cmp.Diff([]reconcile.Request{req}, l.asked); diff != "" {
		t.Errorf("The limiter of the controller says when a request is tried again.\nrequests: -want, +got:\n%s", diff)
	}

	if q.Len() > 0 {
		t.Errorf("want nothing in the queue before the limiter says so, got %d requests", q.Len())
	}

	s.Acquire(requestOf("other"))
	s.Acquire(req)
	s.Release(requestOf("other"))

	if q.Len() != 1 {
		t.Errorf("want a Workspace in the queue when there is a slot for it, got %d requests", q.Len())
	}
}

// TestEvents ensures that the writes at the end of every reconcile do not trigger the next one,
// and that changes by people and decisions of other parts of the provider do.
func TestEvents(t *testing.T) {
	t.Parallel()

	type want struct {
		Queued, Known, Observed, Left, Waits bool
		Priority                             queue.Priority
	}

	taken := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, _ := e.ObjectOld.(*clusterv1beta1.Workspace)
		after, _ := e.ObjectNew.(*clusterv1beta1.Workspace)

		return before.GetOwnership().Claim == nil && after.GetOwnership().Claim != nil
	}}
	update := func(change func(ws *clusterv1beta1.Workspace)) func(context.Context, handler.EventHandler, requests) {
		return func(ctx context.Context, h handler.EventHandler, q requests) {
			h.Update(ctx, event.UpdateEvent{ObjectOld: settled(), ObjectNew: settled(change)}, q)
		}
	}

	cases := map[string]struct {
		reason string
		do     func(ctx context.Context, h handler.EventHandler, q requests)
		want   want

		// after makes the Workspace after the event from the settled one, if its UID has changed.
		after []func(ws *clusterv1beta1.Workspace)
	}{
		"Created": {
			reason: "Another instance may have had it since.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Create(ctx, event.CreateEvent{Object: settled()}, q)
			},
			want: want{Queued: true, Waits: true, Known: true},
		},
		"CreatedNew": {
			reason: "A person waits for it.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Create(ctx, event.CreateEvent{Object: newWorkspace("a")}, q)
			},
			want: want{Queued: true, Waits: true, Known: true, Priority: queue.Urgent},
		},
		"Changed": {
			reason: "The infrastructure has to be created.",
			do:     update(changedSpec),
			want:   want{Queued: true, Waits: true, Known: true, Observed: true, Priority: queue.Urgent},
		},
		"Status": {
			reason: "A status triggers nothing, but it says how urgent the next request is.",
			do: update(func(ws *clusterv1beta1.Workspace) {
				ws.SetConditions(xpv2.Creating())
				ws.SetOwnership(commonv1beta1.Ownership{Lineage: "lineage"})
			}),
			want: want{Waits: true, Known: true, Observed: true, Priority: queue.Urgent},
		},
		"Taken": {
			reason: "The instance may work on it from now on.",
			do: update(func(ws *clusterv1beta1.Workspace) {
				ws.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Holder: "host-0_5ad8"}})
			}),
			want: want{Queued: true, Waits: true, Known: true, Observed: true},
		},
		"Annotated": {
			reason: "A person asks for a reconcile.",
			do:     update(annotatedWith(meta.AnnotationKeyReconcileRequestedAt, "now")),
			want:   want{Queued: true, Waits: true, Known: true, Observed: true, Priority: queue.Urgent},
		},
		"Succeeded": {
			reason: "The provider records the end of a creation, and the reconcile goes on.",
			do: update(func(ws *clusterv1beta1.Workspace) {
				meta.SetExternalName(ws, ws.GetName())
				meta.SetExternalCreateSucceeded(ws, time.Now())
			}),
			want: want{Waits: true, Known: true, Observed: true},
		},
		"Unprotected": {
			reason: "Another controller adds the finalizer that a person has removed.",
			do:     update(func(ws *clusterv1beta1.Workspace) { ws.SetFinalizers(nil) }),
			want:   want{Waits: true, Known: true, Observed: true},
		},
		"Released": {
			reason: "The provider removes its finalizer at the end of a deletion, and others may still have theirs.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Update(ctx, event.UpdateEvent{ObjectOld: settled(beingDeleted), ObjectNew: settled(beingDeleted, func(ws *clusterv1beta1.Workspace) { ws.SetFinalizers(nil) })}, q)
			},
			want: want{Waits: true, Known: true, Observed: true, Priority: queue.Urgent},
		},
		"Moved": {
			reason: "The label of another shard was set by a person.",
			do: update(func(ws *clusterv1beta1.Workspace) {
				meta.AddLabels(ws, map[string]string{"terraform.crossplane.io/shard": "b"})
			}),
			want: want{Queued: true, Waits: true, Known: true, Observed: true},
		},
		"Labelled": {
			reason: "A person who changes a label may expect an effect.",
			do:     update(func(ws *clusterv1beta1.Workspace) { meta.AddLabels(ws, map[string]string{"team": "a"}) }),
			want:   want{Queued: true, Waits: true, Known: true, Observed: true, Priority: queue.Urgent},
		},
		"Bookkeeping": {
			reason: "The record of a creation by crossplane-runtime triggers nothing.",
			do: update(func(ws *clusterv1beta1.Workspace) {
				meta.SetExternalCreatePending(ws, time.Now())
				meta.SetExternalCreateFailed(ws, time.Now())
			}),
			want: want{Waits: true, Known: true, Observed: true},
		},
		"Deleted": {
			reason: "The record would be wrong if the Workspace came back.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Delete(ctx, event.DeleteEvent{Object: settled()}, q)
			},
			want: want{Queued: true, Left: true},
		},
		"Replaced": {
			reason: "A cache that has lost its watch reports a Workspace that was deleted and created again as updated.",
			do:     update(replaced),
			after:  []func(ws *clusterv1beta1.Workspace){replaced},
			want:   want{Queued: true, Known: true, Left: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := NewRecords(Policy{Interval: time.Minute}, time.Now)
			s := NewSlots(1, r, func(int, int) {}, func(time.Duration) {})
			r.Begin(settled())
			r.Observe(settled(), Observation{}, nil)

			// The Workspace waits for a slot.
			s.Acquire(requestOf("other"))
			s.Acquire(requestOf("ws"))

			left := false
			h := NewEventHandler(r, s, func(client.Object) { left = true }, taken)
			q := NewQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](), r, s)
			t.Cleanup(q.ShutDown)

			tc.do(t.Context(), h, q)

			rec := r.Get(settled(tc.after...))
			got := want{Queued: q.Len() > 0, Known: rec.UID != "", Observed: rec.Observed(), Left: left, Waits: s.Waits(requestOf("ws")), Priority: rec.Class.Priority}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// replaced makes another Workspace with the same name.
func replaced(ws *clusterv1beta1.Workspace) { ws.SetUID("b") }
