// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestStart shuts down during a reconcile that runs the CLI. The run ends when its context is
// done or after the time that it needs.
func TestStart(t *testing.T) {
	t.Parallel()

	type want struct {
		// Both are times from the beginning of the shutdown.
		RunsCanceled, Returned time.Duration
		// Interrupted says that the run was interrupted. ReconcileErr is the error of the
		// reconcile's own context.
		Interrupted  bool
		ReconcileErr error
	}

	cases := map[string]struct {
		reason string
		// needs is the time that the CLI runs after the shutdown began. after is the time that the
		// reconcile takes after the run.
		needs, after time.Duration
		idle         bool
		want         want
	}{
		"Idle": {
			reason: "Without work in progress there is no wait.",
			idle:   true,
		},
		"WithinGrace": {
			reason: "A run that ends within the grace is not interrupted, and its reconcile records the result.",
			needs:  3 * time.Second,
			after:  time.Second,
			want:   want{RunsCanceled: 4 * time.Second, Returned: 4 * time.Second},
		},
		"BeyondGrace": {
			reason: "A run that takes longer than the grace is interrupted, but its reconcile records the result.",
			needs:  time.Hour,
			after:  time.Second,
			want:   want{RunsCanceled: grace, Returned: grace + time.Second, Interrupted: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got want

				ctx, shutdown := context.WithCancel(t.Context())
				d := New(grace, limit)
				r := d.Reconciler(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					select {
					case <-d.Runs().Done():
						got.Interrupted = true
					case <-time.After(tc.needs):
					}

					time.Sleep(tc.after)

					got.ReconcileErr = ctx.Err()

					return reconcile.Result{}, nil
				}))

				returned := make(chan time.Time)

				go func() {
					if err := d.Start(ctx); err != nil {
						t.Error(err)
					}

					returned <- time.Now()
				}()

				if !tc.idle {
					go func() { _, _ = r.Reconcile(ctx, reconcile.Request{}) }()
				}

				synctest.Wait()

				begin := time.Now()

				shutdown()
				<-d.Runs().Done()

				got.RunsCanceled = time.Since(begin)
				got.Returned = (<-returned).Sub(begin)

				if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// TestAbort aborts while a reconcile is in progress, at some time of a shutdown.
func TestAbort(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		before func(shutdown func())
		// hangs says that the reconcile waits for the API server after its run.
		hangs bool
		want  time.Duration
	}{
		"Running": {
			reason: "Runs are interrupted at once.",
			before: func(func()) {},
			want:   time.Second,
		},
		"Draining": {
			reason: "The grace of a shutdown in progress ends at once.",
			before: func(shutdown func()) {
				shutdown()
				<-time.After(grace / 2)
			},
			want: time.Second,
		},
		"Hanging": {
			reason: "A reconcile that waits for an answer is canceled in the end.",
			before: func(func()) {},
			hangs:  true,
			want:   limit,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, shutdown := context.WithCancel(t.Context())
				defer shutdown()

				d := New(grace, limit)

				var calls, ended atomic.Int32

				r := d.Reconciler(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					calls.Add(1)
					<-d.Runs().Done()
					time.Sleep(time.Second)

					if tc.hangs {
						<-ctx.Done()
					}

					ended.Add(1)

					return reconcile.Result{}, nil
				}))
				go func() { _ = d.Start(ctx) }()
				go func() { _, _ = r.Reconcile(t.Context(), reconcile.Request{}) }()

				synctest.Wait()
				tc.before(shutdown)

				begin := time.Now()

				d.Abort()

				if took := time.Since(begin); took != 0 {
					t.Errorf("%s\nAbort took %s", tc.reason, took)
				}

				_, _ = r.Reconcile(t.Context(), reconcile.Request{})

				d.Wait()

				if diff := cmp.Diff(tc.want, time.Since(begin)); diff != "" {
					t.Errorf("%s\nhow long it took: -want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff([]int32{1, 1}, []int32{calls.Load(), ended.Load()}); diff != "" {
					t.Errorf("%s\nreconciles that began and ended: -want, +got:\n%s", tc.reason, diff)
				}
				// A second call changes nothing.
				d.Abort()
			})
		})
	}
}

// TestNoneBeginsAfterShutdown: a reconcile that begins while Start waits for another would block
// it for ever, and Start would not wait for one that begins after it returned. The context of the
// manager's own group may still be alive in both cases.
func TestNoneBeginsAfterShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, shutdown := context.WithCancel(t.Context())
		d := New(grace, limit)

		var calls atomic.Int32

		r := d.Reconciler(reconcile.Func(func(_ context.Context, _ reconcile.Request) (reconcile.Result, error) {
			calls.Add(1)
			time.Sleep(time.Second)

			return reconcile.Result{RequeueAfter: time.Second}, nil
		}))
		done := make(chan struct{})

		go func() {
			_ = d.Start(ctx)

			close(done)
		}()
		go func() { _, _ = r.Reconcile(t.Context(), reconcile.Request{}) }()

		synctest.Wait()
		shutdown()
		synctest.Wait()

		for _, when := range []string{"while Start waits", "after Start returned"} {
			result, err := r.Reconcile(t.Context(), reconcile.Request{})
			if err != nil {
				t.Errorf("%s: %v", when, err)
			}

			if diff := cmp.Diff(reconcile.Result{}, result); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", when, diff)
			}

			<-done
		}

		if diff := cmp.Diff(int32(1), calls.Load()); diff != "" {
			t.Errorf("reconciles that began: -want, +got:\n%s", diff)
		}
	})
}

// TestShutdownUnderLoad lets many workers reconcile while the shutdown begins. Start waits for
// the reconciles that began, and the rest does not begin.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()

	const workers = 32

	rounds := 50
	if testing.Short() {
		rounds = 5
	}

	for range rounds {
		ctx, shutdown := context.WithCancel(t.Context())
		d := New(grace, limit)

		var inFlight, began atomic.Int32

		r := d.Reconciler(reconcile.Func(func(_ context.Context, _ reconcile.Request) (reconcile.Result, error) {
			inFlight.Add(1)
			defer inFlight.Add(-1)

			if began.Add(1) == 10*workers {
				shutdown()
			}

			return reconcile.Result{}, nil
		}))

		stop := make(chan struct{})
		for range workers {
			go reconcileUntil(context.WithoutCancel(ctx), stop, r)
		}

		if err := d.Start(ctx); err != nil {
			t.Fatal(err)
		}

		atReturn := began.Load()
		if diff := cmp.Diff(int32(0), inFlight.Load()); diff != "" {
			t.Fatalf("reconciles in flight when Start returned: -want, +got:\n%s", diff)
		}

		_, _ = r.Reconcile(t.Context(), reconcile.Request{})
		if diff := cmp.Diff(atReturn, began.Load()); diff != "" {
			t.Fatalf("reconciles that began when Start had returned: -want, +got:\n%s", diff)
		}

		close(stop)
	}
}

// reconcileUntil reconciles again and again until stop is closed.
func reconcileUntil(ctx context.Context, stop <-chan struct{}, r reconcile.Reconciler) {
	for {
		select {
		case <-stop:
			return
		default:
			_, _ = r.Reconcile(ctx, reconcile.Request{})
		}
	}
}
