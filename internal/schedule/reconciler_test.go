// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
)

func TestReconciler(t *testing.T) {
	t.Parallel()

	const interval = time.Hour

	type outcome struct {
		Ran, Left, Twice bool
		Result           reconcile.Result
		Free             int
	}

	boom := errors.New("boom")
	poll := reconcile.Result{RequeueAfter: interval}
	again := reconcile.Result{Requeue: true} //nolint:staticcheck // The managed reconciler returns it.

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		before func(r *Reconciler)
		inner  func(r *Reconciler) (reconcile.Result, error)
		err    error

		// policies says that management policies are enabled.
		policies bool

		// written is the Workspace as the reconcile writes its status. Nil if it does not.
		written *clusterv1beta1.Workspace

		// polled says that the result is a requeue for the next poll.
		polled bool
		want   outcome
	}{
		"Skipped": {
			reason: "There is nothing to do until the next poll.",
			ws:     settled(),
			polled: true,
			want:   outcome{Free: 1},
		},
		"Succeeded": {
			reason: "The next poll counts from the observation.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec), Observation{Exists: true, UpToDate: true}, nil)

				return poll, nil
			},
			polled: true,
			want:   outcome{Ran: true, Free: 1},
		},
		"Unfinished": {
			reason: "The managed reconciler requeues the Workspace, after a conflict for example.",
			ws:     settled(changedSpec),
			inner:  func(*Reconciler) (reconcile.Result, error) { return again, nil },
			want:   outcome{Ran: true, Free: 1, Result: again},
		},
		"Created": {
			reason: "After a creation, the managed reconciler observes the Workspace at once.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec), Observation{Exists: true, UpToDate: true}, nil)

				return again, nil
			},
			written: settled(changedSpec),
			want:    outcome{Ran: true, Twice: true, Free: 1, Result: again},
		},
		"Destroyed": {
			reason: "After a destroy, the managed reconciler removes the finalizer at once.",
			ws:     settled(beingDeleted),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(beingDeleted), Observation{Deleted: true}, nil)

				return again, nil
			},
			written: settled(beingDeleted),
			want:    outcome{Ran: true, Twice: true, Free: 1, Result: again},
		},
		"NothingToObserve": {
			reason: "The managed reconciler takes it for a failure, and would try again at once.",
			ws:     settled(changedSpec, withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete)),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec, withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete)), Observation{}, nil)

				return again, nil
			},
			polled: true,
			want:   outcome{Ran: true, Free: 1},
		},
		"NotPublished": {
			reason: "What was created could not be published: that is tried later.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec), Observation{Exists: true, UpToDate: true}, nil)

				return again, nil
			},
			written: settled(changedSpec, notSynced),
			want:    outcome{Ran: true, Free: 1, Result: again},
		},
		"Updated": {
			reason: "After an update, the managed reconciler wants no second observation.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec), Observation{Exists: true, UpToDate: true}, nil)

				return poll, nil
			},
			written: settled(changedSpec),
			polled:  true,
			want:    outcome{Ran: true, Free: 1},
		},
		"DestroyedElsewhere": {
			reason: "The Workspace has left the cache during the destroy: another instance observes it.",
			ws:     settled(beingDeleted),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.ForgetObservation(settled(beingDeleted))

				return again, nil
			},
			written: settled(beingDeleted),
			want:    outcome{Ran: true, Free: 1, Result: again},
		},
		"NotDestroyed": {
			reason: "Something is left.",
			ws:     settled(beingDeleted),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(beingDeleted), Observation{Exists: true, Deleted: true}, nil)

				return again, nil
			},
			written: settled(beingDeleted),
			want:    outcome{Ran: true, Free: 1, Result: again},
		},
		"NotCreated": {
			reason: "There is nothing yet, and the Workspace is not being deleted.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Observe(settled(changedSpec), Observation{}, nil)

				return again, nil
			},
			written: settled(changedSpec),
			want:    outcome{Ran: true, Free: 1, Result: again},
		},
		"Failed": {
			reason: "The time of the retry is that of the record, which the condition shows.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Fail(settled(changedSpec), false)

				return again, nil
			},
			want: outcome{Ran: true, Free: 1, Result: reconcile.Result{RequeueAfter: Policy{}.retryDelay("a", Failures{Count: 1})}},
		},
		"Waits": {
			reason: "No slot is free for an expected apply.",
			ws:     settled(changedSpec),
			before: func(r *Reconciler) { r.slots.Acquire(requestOf("other")) },
			want:   outcome{Result: reconcile.Result{RequeueAfter: ticketTimeout}},
		},
		"DriftWaits": {
			reason: "No slot is free for a drift.",
			ws:     settled(annotatedWith("example.org/refresh", "1")),
			before: func(r *Reconciler) { r.slots.Acquire(requestOf("other")) },
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.slots.Acquire(requestOf("ws"))

				return again, nil
			},
			want: outcome{Ran: true, Result: reconcile.Result{RequeueAfter: ticketTimeout}},
		},
		"DriftWaitsAfterFailure": {
			reason: "A failure before does not count: the plan has succeeded.",
			ws:     settled(annotatedWith("example.org/refresh", "1")),
			before: func(r *Reconciler) {
				r.slots.Acquire(requestOf("other"))
				r.records.Fail(settled(), false)
			},
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.slots.Acquire(requestOf("ws"))

				return again, nil
			},
			want: outcome{Ran: true, Result: reconcile.Result{RequeueAfter: ticketTimeout}},
		},
		"Retried": {
			reason: "A reconcile that did not fail does not wait for the time of an earlier failure.",
			ws:     settled(annotatedWith("example.org/refresh", "1")),
			before: func(r *Reconciler) {
				now := r.now()
				r.records.now = func() time.Time { return now.Add(-time.Hour) }
				r.records.Fail(settled(), false)
			},
			inner: func(*Reconciler) (reconcile.Result, error) { return again, nil },
			want:  outcome{Ran: true, Free: 1, Result: again},
		},
		"NotNeeded": {
			reason: "A Workspace that waited and has nothing to apply any more cancels its ticket.",
			ws:     settled(),
			before: func(r *Reconciler) {
				r.slots.Acquire(requestOf("other"))
				r.slots.Acquire(requestOf("ws"))
				r.slots.Release(requestOf("other"))
			},
			polled: true,
			want:   outcome{Free: 1},
		},
		"Paused": {
			reason: "A paused Workspace comes again when a person changes it.",
			ws:     settled(annotatedWith(meta.AnnotationKeyReconciliationPaused, "true")),
			before: func(r *Reconciler) { r.records.Fail(settled(), false) },
			inner:  func(*Reconciler) (reconcile.Result, error) { return reconcile.Result{}, nil },
			want:   outcome{Ran: true, Free: 1},
		},
		"PausedByPolicies": {
			reason:   "A pause needs no slot, even if it is a change of the specification.",
			ws:       settled(changedSpec),
			policies: true,
			before:   func(r *Reconciler) { r.slots.Acquire(requestOf("other")) },
			inner:    func(*Reconciler) (reconcile.Result, error) { return reconcile.Result{}, nil },
			want:     outcome{Ran: true},
		},
		"Error": {
			reason: "The queue handles an error.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Fail(settled(changedSpec), false)

				return poll, boom
			},
			err:  boom,
			want: outcome{Ran: true, Free: 1},
		},
		"Left": {
			reason: "The Workspace has left the cache in the meantime.",
			ws:     settled(changedSpec),
			inner: func(r *Reconciler) (reconcile.Result, error) {
				r.records.Forget(settled())

				return poll, nil
			},
			want: outcome{Ran: true, Left: true, Free: 1, Result: poll},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := outcome{}
			p := Policy{Interval: interval, ManagementPolicies: tc.policies}
			records := NewRecords(p, time.Now)
			records.Begin(settled())

			var r *Reconciler

			r = NewReconciler(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				got.Ran, got.Twice = true, got.Ran

				if tc.written != nil {
					writeStatus(ctx, t, tc.written)
				}

				return tc.inner(r)
			}), p, records, NewSlots(1, records, func(int, int) {}, func(time.Duration) {}), func(client.Object) { got.Left = true }, event.NewNopRecorder(), logging.NewNopLogger())

			// A retry is at an exact time.
			now := time.Now()
			r.now, records.now = func() time.Time { return now }, func() time.Time { return now }

			if tc.before != nil {
				tc.before(r)
			}

			// What it says before the Workspace is read again is what happens then.
			if _, waits := r.Waits(tc.ws); waits == tc.want.Ran {
				t.Errorf("\n%s\nWaits(...): got %t", tc.reason, waits)
			}

			var err error
			if got.Result, err = r.Reconcile(t.Context(), tc.ws, false); !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nReconcile(...): want error %v, got %v", tc.reason, tc.err, err)
			}

			if after := got.Result.RequeueAfter; tc.polled {
				if after <= 0 || after > 3*interval/2 || after == interval {
					t.Errorf("\n%s\nReconcile(...): want the next poll, got %s", tc.reason, after)
				}

				got.Result = reconcile.Result{}
			}

			got.Free = r.slots.free

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// writeStatus writes the status of a Workspace, as a reconcile with the supplied context does.
func writeStatus(ctx context.Context, t *testing.T, ws *clusterv1beta1.Workspace) {
	t.Helper()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	stored := newWorkspace("a")
	c := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(stored).WithObjects(stored).Build()

	if err := c.Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}

	ws = ws.DeepCopy()
	ws.SetResourceVersion(stored.GetResourceVersion())

	if err := statusclient.NewClient(c, c).Status().Update(ctx, ws); err != nil {
		t.Fatal(err)
	}
}

// messages are those of the recorded Events, by the name of the object.
type messages map[string][]string

func (m messages) Event(o runtime.Object, e event.Event) {
	if o, ok := o.(client.Object); ok {
		m[o.GetName()] = append(m[o.GetName()], string(e.Reason)+": "+e.Message)
	}
}

func (m messages) WithAnnotations(...string) event.Recorder { return m }

// TestReconcilerReportsWait ensures that people are told that a Workspace waits for a slot, but not in the first
// moments, not each time, and not of too many at once.
func TestReconcilerReportsWait(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		const (
			others = 2 * maxReports
			want   = "WaitingForApplySlot: Waiting for an apply slot, until others are created, changed or deleted: this instance does that with 1 of a kind at a time, as --max-reconcile-rate and --max-applies say"
		)

		p, got := Policy{Interval: time.Hour}, messages{}
		records := NewRecords(p, time.Now)
		slots := NewSlots(1, records, func(int, int) {}, func(time.Duration) {})
		r := NewReconciler(nil, p, records, slots, func(client.Object) {}, got, logging.NewNopLogger())

		slots.Acquire(requestOf("busy"))

		// wait decides about all Workspaces, as at the end of each delay.
		wait := func(after time.Duration) {
			time.Sleep(after)

			for n := range 1 + others {
				ws := settled(changedSpec)
				ws.SetName(strconv.Itoa(n))

				if after, waits := r.Waits(ws); !waits || after != ticketTimeout {
					t.Errorf("Waits(...): want to wait for a slot, got %s, %t", after, waits)
				}
			}
		}

		wait(0)

		if len(got) > 0 {
			t.Errorf("in the first moments: want no Event, got %v", got)
		}

		wait(ticketTimeout)
		wait(time.Millisecond)

		if diff := cmp.Diff([]string{want}, got["0"]); diff != "" || len(got) != maxReports {
			t.Errorf("want Events on %d Workspaces, got %d; the first: -want, +got:\n%s", maxReports, len(got), diff)
		}

		wait(repeatReport)

		if diff := cmp.Diff([]string{want, want}, got["0"]); diff != "" {
			t.Errorf("when the first one may be gone: -want, +got:\n%s", diff)
		}
	})
}

// TestReconcilerLeft ensures that no slot is kept for a Workspace that leaves the cache during its plan, which
// finds a drift.
func TestReconcilerLeft(t *testing.T) {
	t.Parallel()

	p, ws := Policy{Interval: time.Hour}, settled()
	records := NewRecords(p, time.Now)
	slots := NewSlots(1, records, func(int, int) {}, func(time.Duration) {})

	records.Begin(ws)
	records.Observe(ws, Observation{Exists: true, UpToDate: true}, nil)
	slots.Acquire(requestOf("busy"))

	left := 0
	inner := reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
		records.Forget(ws)

		if slots.Acquire(req) {
			t.Error("Acquire(...): there is only one slot")
		}

		return reconcile.Result{}, nil
	})
	r := NewReconciler(inner, p, records, slots, func(client.Object) { left++ }, event.NewNopRecorder(), logging.NewNopLogger())
	r.now = func() time.Time { return time.Now().Add(2 * p.Interval) }

	if _, err := r.Reconcile(t.Context(), ws, false); err != nil {
		t.Fatal(err)
	}

	if slots.Waits(RequestFor(ws)) || left != 1 {
		t.Errorf("want it to be reported once, and not to wait for a slot: it was reported %d times, and waits: %t", left, slots.Waits(RequestFor(ws)))
	}
}

// TestReconcilerReplaced ensures that a reconcile does not work on a Workspace that has replaced, since
// the decision, the one of the same name: another instance may have claimed it.
func TestReconcilerReplaced(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	stored := newWorkspace("b")
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(stored).Build()

	for uid, want := range map[string]bool{"a": false, "b": true} {
		found := false
		p := Policy{Interval: time.Hour}
		records := NewRecords(p, time.Now)

		inner := reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			err := statusclient.NewClient(c, c).Get(ctx, req.NamespacedName, &clusterv1beta1.Workspace{})
			found = err == nil

			return reconcile.Result{}, client.IgnoreNotFound(err)
		})
		r := NewReconciler(inner, p, records, NewSlots(1, records, func(int, int) {}, func(time.Duration) {}), func(client.Object) {}, event.NewNopRecorder(), logging.NewNopLogger())

		if _, err := r.Reconcile(t.Context(), newWorkspace(uid), false); err != nil {
			t.Fatal(err)
		}

		if found != want {
			t.Errorf("Reconcile(...) of UID %s, which the API server has as %s: want it to be found %t, got %t", uid, stored.GetUID(), want, found)
		}
	}
}

func TestReconcilerRefuses(t *testing.T) {
	t.Parallel()

	if _, err := (&Reconciler{}).Reconcile(t.Context(), &corev1.Secret{}, false); !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("Reconcile(...) of something else than a Workspace: want a terminal error, got %v", err)
	}
}

func notSynced(ws *clusterv1beta1.Workspace) {
	ws.SetConditions(xpv2.ReconcileError(errors.New("boom")))
}
