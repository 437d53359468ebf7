// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestUrgent(t *testing.T) {
	t.Parallel()

	failed := func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.ReconcileError(context.Canceled).WithObservedGeneration(1))
	}
	requested := func(ws *clusterv1beta1.Workspace) {
		meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"})
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   queue.Priority
	}{
		"New":     {reason: "Somebody waits for it.", ws: workspaceWithUID("a"), want: queue.Urgent},
		"Settled": {reason: "It is polled.", ws: settled()},
		"Changed": {reason: "It was never tried like this.", ws: settled(func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }), want: queue.Urgent},
		"Deleted": {reason: "Somebody waits until it is gone.", ws: settled(deleted), want: queue.Urgent},
		"NotReady": {
			reason: "It is being created.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.Creating()) }),
			want:   queue.Urgent,
		},
		"Failed":        {reason: "It was tried, and nobody else has to wait for the next try.", ws: settled(failed)},
		"FailedDeleted": {reason: "The same when it is being deleted.", ws: settled(failed, deleted)},
		"FailedChanged": {reason: "The change may be what mends it.", ws: settled(failed, func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }), want: queue.Urgent},
		"Requested":     {reason: "Somebody asked for it.", ws: settled(requested), want: queue.Urgent},
		"FailedAndRequested": {
			reason: "Somebody asked for it.",
			ws:     settled(failed, requested),
			want:   queue.Urgent,
		},
		"Handled": {
			reason: "What was asked for was done.",
			ws: settled(requested, func(ws *clusterv1beta1.Workspace) {
				ws.SetLastHandledReconcileAt("now")
			}),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Priority); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want priority, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTenantOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     workspace.Workspace
		want   string
	}{
		"Namespace": {
			reason: "A namespace is one tenant, whatever it uses.",
			ws: &namespacedv1beta1.Workspace{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns"},
				Spec:       namespacedWith(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "config"}),
			},
			want: "ns",
		},
		"ProviderConfig": {
			reason: "Without a namespace it is whoever uses the same configuration.",
			ws:     withConfig("config"),
			want:   "config",
		},
		"Nobody": {
			reason: "There may be none yet.",
			ws:     workspaceWithUID("a"),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, classify(tc.ws).Tenant); diff != "" {
				t.Errorf("\n%s\nclassify(...): -want tenant, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func namespacedWith(ref *xpv2.ProviderConfigReference) namespacedv1beta1.WorkspaceSpec {
	s := namespacedv1beta1.WorkspaceSpec{}
	s.ProviderConfigReference = ref

	return s
}

func withConfig(name string) *clusterv1beta1.Workspace {
	ws := workspaceWithUID("a")
	ws.SetProviderConfigReference(&xpv2.Reference{Name: name})

	return ws
}

// TestExpressway ensures that the rate limit is for polls.
func TestExpressway(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		isPoll bool
		want   []string
	}{
		"Urgent":   {reason: "Somebody waits for it.", ws: workspaceWithUID("a"), isPoll: true, want: []string{"inner"}},
		"Poll":     {reason: "Nobody waits for it.", ws: settled(), isPoll: true, want: []string{"limited"}},
		"Memory":   {reason: "It is answered from memory.", ws: settled(), want: []string{"inner"}},
		"Vanished": {reason: "There is nothing to do.", isPoll: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			reached := func(name string) reconcile.Reconciler {
				return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					got = append(got, name)

					return reconcile.Result{}, nil
				})
			}

			w := newTestWatch(newMemory())

			if tc.ws != nil {
				tc.ws.SetName("a")
				w.note(tc.ws)
			}

			r := w.expressway(reached("inner"), reached("limited"), stubClient{ws: tc.ws}, workspace.Kind{Object: &clusterv1beta1.Workspace{}}, func(workspace.Workspace) bool { return tc.isPoll })
			if _, err := r.Reconcile(t.Context(), requestOf("a")); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nreconcilers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// newTestWatch returns a watch beside which nothing else remembers anything.
func newTestWatch(m *memory) *watch {
	return newWatch(m, newStaller(time.Minute, time.Now, logging.NewNopLogger()), func(client.Object) {})
}

// A slowest limiter lets nothing in before the test is over.
type slowest struct {
	workqueue.TypedRateLimiter[reconcile.Request]

	asked []reconcile.Request
}

func (l *slowest) When(r reconcile.Request) time.Duration {
	l.asked = append(l.asked, r)

	return time.Hour
}

func TestNewQueue(t *testing.T) {
	t.Parallel()

	l, req := &slowest{}, requestOf("a")
	q := newTestWatch(newMemory()).newQueue("test", l)
	t.Cleanup(q.ShutDown)

	q.AddRateLimited(req)

	if diff := cmp.Diff([]reconcile.Request{req}, l.asked); diff != "" {
		t.Errorf("The limiter of the controller says when what failed is tried again.\nrequests: -want, +got:\n%s", diff)
	}

	if q.Len() > 0 {
		t.Errorf("want nothing in the queue before the limiter says so, got %d requests", q.Len())
	}
}

// What a person has annotated comes before all polls until it was reconciled once.
func TestAnnotatedIsUrgent(t *testing.T) {
	t.Parallel()

	w, req := newTestWatch(newMemory()), requestOf("a")
	q := w.newQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)

	named := func(o func(ws *clusterv1beta1.Workspace)) *clusterv1beta1.Workspace {
		return settled(func(ws *clusterv1beta1.Workspace) { ws.SetName("a") }, o)
	}
	plain := named(func(*clusterv1beta1.Workspace) {})
	annotated := named(func(ws *clusterv1beta1.Workspace) {
		meta.AddAnnotations(ws, map[string]string{"example.org/refresh": "1"})
	})

	expect := func(reason string, want queue.Priority) {
		t.Helper()

		if got := w.class(req).Priority; got != want {
			t.Errorf("%s\nclass(...): want priority %v, got %v", reason, want, got)
		}
	}
	reconciled := func(ws *clusterv1beta1.Workspace) {
		t.Helper()

		inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
		if _, err := w.reconciler(inner, stubClient{ws: ws}, workspace.Kinds()[0]).Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}

	w.handler().Create(t.Context(), event.CreateEvent{Object: plain}, q)
	expect("An instance that has just started does not know of any change.", queue.Routine)
	reconciled(plain)
	expect("It is polled.", queue.Routine)

	w.handler().Update(t.Context(), event.UpdateEvent{ObjectOld: plain, ObjectNew: annotated}, q)
	expect("A person waits for it.", queue.Urgent)
	reconciled(annotated)
	expect("It was looked at.", queue.Routine)

	// The event of the status that the reconcile wrote.
	w.handler().Update(t.Context(), event.UpdateEvent{ObjectOld: annotated, ObjectNew: annotated}, q)
	expect("It is polled again.", queue.Routine)

	other := annotated.DeepCopy()
	other.SetUID("b")
	w.handler().Create(t.Context(), event.CreateEvent{Object: other}, q)
	expect("What had the name before does not count.", queue.Routine)
}

func TestHandler(t *testing.T) {
	t.Parallel()

	type want struct {
		Queued, Remembered, Stalled, Left bool
		Priority                          queue.Priority
	}

	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

	update := func(before, after client.Object) func(context.Context, handler.EventHandler, requests) {
		return func(ctx context.Context, h handler.EventHandler, q requests) {
			h.Update(ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
		}
	}

	cases := map[string]struct {
		reason string
		do     func(ctx context.Context, h handler.EventHandler, q requests)
		want   want
	}{
		"Created": {
			reason: "It may have been somebody else's meanwhile.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Create(ctx, event.CreateEvent{Object: settled()}, q)
			},
			want: want{Queued: true},
		},
		"CreatedNew": {
			reason: "Somebody waits for it.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Create(ctx, event.CreateEvent{Object: workspaceWithUID("a")}, q)
			},
			want: want{Queued: true, Priority: queue.Urgent},
		},
		"Changed": {
			reason: "There is something to do.",
			do:     update(settled(), settled(func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) })),
			want:   want{Queued: true, Remembered: true, Stalled: true, Priority: queue.Urgent},
		},
		"Status": {
			reason: "The status asks for nothing, but it says how urgent the next request is.",
			do:     update(settled(), settled(func(ws *clusterv1beta1.Workspace) { ws.SetConditions(xpv2.Creating()) })),
			want:   want{Remembered: true, Stalled: true, Priority: queue.Urgent},
		},
		"Annotated": {
			reason: "Somebody asks for a look.",
			do: update(settled(), settled(func(ws *clusterv1beta1.Workspace) {
				meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"})
			})),
			want: want{Queued: true, Remembered: true, Stalled: true, Priority: queue.Urgent},
		},
		"Labelled": {
			reason: "Whoever changes a label may expect something of that.",
			do: update(settled(), settled(func(ws *clusterv1beta1.Workspace) {
				meta.AddLabels(ws, map[string]string{"team": "a"})
			})),
			want: want{Queued: true, Remembered: true, Stalled: true},
		},
		"Bookkeeping": {
			reason: "What crossplane-runtime notes down about a creation asks for nothing.",
			do: update(settled(), settled(func(ws *clusterv1beta1.Workspace) {
				meta.SetExternalCreatePending(ws, time.Now())
				meta.SetExternalCreateFailed(ws, time.Now())
			})),
			want: want{Remembered: true, Stalled: true},
		},
		"Deleted": {
			reason: "What is remembered would be wrong if it came back, and nobody needs it otherwise.",
			do: func(ctx context.Context, h handler.EventHandler, q requests) {
				h.Create(ctx, event.CreateEvent{Object: workspaceWithUID("a")}, q)
				h.Delete(ctx, event.DeleteEvent{Object: workspaceWithUID("a")}, q)
			},
			want: want{Queued: true, Left: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMemory()
			m.keep("a", look{})

			st := newStaller(time.Minute, time.Now, logging.NewNopLogger())
			for range stallAfter {
				st.failed(workspaceWithUID("a"))
			}

			left := false
			w := newWatch(m, st, func(client.Object) { left = true })
			q := w.newQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(q.ShutDown)

			tc.do(t.Context(), w.handler(), q)

			_, remembered := m.recall("a")
			_, stalled := st.stalled(workspaceWithUID("a"))
			got := want{Queued: q.Len() > 0, Remembered: remembered, Stalled: stalled, Left: left, Priority: w.class(requestOf("")).Priority}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLeftMeanwhile(t *testing.T) {
	t.Parallel()

	type want struct{ Remembered, Stalled, Left bool }

	named := func(uid string) *clusterv1beta1.Workspace {
		ws := workspaceWithUID(uid)
		ws.SetName("ws")

		return ws
	}
	deleteEvent := func(ctx context.Context, h handler.EventHandler, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		h.Delete(ctx, event.DeleteEvent{Object: named("a")}, q)
	}

	cases := map[string]struct {
		reason string
		while  func(ctx context.Context, h handler.EventHandler, q workqueue.TypedRateLimitingInterface[reconcile.Request])
		want   want
	}{
		"Stays": {
			reason: "What was seen of it is what the next reconcile needs.",
			while:  func(context.Context, handler.EventHandler, workqueue.TypedRateLimitingInterface[reconcile.Request]) {},
			want:   want{Remembered: true, Stalled: true},
		},
		"Leaves": {
			reason: "What the reconcile remembers after the event is of no use to anybody.",
			while:  deleteEvent,
			want:   want{Left: true},
		},
		"Returns": {
			reason: "It was somebody else's in between, but what is seen from now on counts.",
			while: func(ctx context.Context, h handler.EventHandler, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				deleteEvent(ctx, h, q)
				h.Create(ctx, event.CreateEvent{Object: named("a")}, q)
			},
			want: want{Remembered: true, Stalled: true},
		},
		"Replaced": {
			reason: "Another one of its name is not the same.",
			while: func(ctx context.Context, h handler.EventHandler, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				deleteEvent(ctx, h, q)
				h.Create(ctx, event.CreateEvent{Object: named("b")}, q)
			},
			want: want{Left: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := runtime.NewScheme()
			if err := clusterv1beta1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}

			got, m, st := want{}, newMemory(), newStaller(time.Minute, time.Now, logging.NewNopLogger())
			w := newWatch(m, st, func(client.Object) { got.Left = true })
			q := w.newQueue("test", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(q.ShutDown)
			w.handler().Create(t.Context(), event.CreateEvent{Object: named("a")}, q)

			r := w.reconciler(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				tc.while(ctx, w.handler(), q)

				got.Left = false

				m.keep("a", look{})

				for range stallAfter {
					st.failed(named("a"))
				}

				return reconcile.Result{}, nil
			}), fake.NewClientBuilder().WithScheme(s).WithObjects(named("a")).Build(), workspace.Kind{Object: &clusterv1beta1.Workspace{}})

			if _, err := r.Reconcile(t.Context(), requestOf("ws")); err != nil {
				t.Fatal(err)
			}

			_, got.Remembered = m.recall("a")
			_, got.Stalled = st.stalled(named("a"))

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
