// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestWaitFor starts managers whose caches are filled after some time, or never.
func TestWaitFor(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")

	const never = 24 * time.Hour

	cases := map[string]struct {
		reason string
		// filled, stopped and refused are times after the start.
		filled, stopped time.Duration
		refused         bool
		err             error
		want            error
		after           time.Duration
	}{
		"Filled":  {reason: "The manager ends by itself.", filled: time.Second, stopped: time.Hour, after: time.Hour + 5*time.Second},
		"Failed":  {reason: "The error of the manager is that of the instance.", filled: time.Second, stopped: time.Hour, err: errBoom, want: errBoom, after: time.Hour + 5*time.Second},
		"Refused": {reason: "Caches that are refused are not filled.", filled: never, stopped: time.Hour, refused: true, want: cmpopts.AnyError, after: fillLimit},
		"Stopped": {reason: "An instance that waits for a right can be stopped.", filled: never, stopped: time.Minute, refused: true, after: time.Minute + fillGrace},
		"Slow":    {reason: "An API server may need longer.", filled: 10 * time.Minute, stopped: time.Hour, after: time.Hour + 5*time.Second},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.stopped)
				defer cancel()

				i := &instance{unfilled: newUnfilled()}
				if tc.refused {
					i.unfilled.refuse(reflect.TypeFor[*corev1.Secret](), toolscache.NewSharedIndexInformer(nil, &corev1.Secret{}, 0, nil), errBoom)
				}

				f, start := make(filled), time.Now()

				got := i.waitFor(ctx, manager.RunnableFunc(func(ctx context.Context) error {
					time.Sleep(tc.filled)

					_ = f.Start(ctx)
					<-ctx.Done()
					// Runs end.
					time.Sleep(5 * time.Second)

					return tc.err
				}), f)

				if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("\n%s\nwaitFor(...): -want, +got:\n%s", tc.reason, diff)
				}

				if after := time.Since(start); after != tc.after {
					t.Errorf("\n%s\nwant an end after %s, got %s", tc.reason, tc.after, after)
				}

				// The manager that was left behind ends, too.
				time.Sleep(2 * never)
			})
		})
	}
}

// A sweepingManager is filled at once, and has a runnable without leader election that ends long
// after ctx is done. Only then does it tell the drain, like a real manager.
type sweepingManager struct {
	manager.Manager

	filled, drain manager.Runnable
}

func (m *sweepingManager) Add(r manager.Runnable) error {
	m.filled = r

	return nil
}

func (m *sweepingManager) Start(ctx context.Context) error {
	_ = m.filled.Start(ctx)
	<-ctx.Done()
	<-time.After(time.Hour)

	return m.drain.Start(ctx)
}

// TestShutdownDuringSweep shuts down while a reconcile runs the CLI, and while the manager still
// waits for other runnables before it tells its controllers.
func TestShutdownDuringSweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const grace = 15 * time.Second

		d := drain.New(grace, time.Minute)
		i := &instance{o: &Options{}, log: logging.NewNopLogger(), cli: &terraform.CLI{}, drain: d, mgr: &sweepingManager{drain: d}, unfilled: newUnfilled()}
		ctx, shutdown := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() { ended <- i.run(ctx) }()

		var began atomic.Int32

		interrupted := make(chan time.Time, 2)
		r := d.Reconciler(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			began.Add(1)
			<-d.Runs().Done()

			interrupted <- time.Now()

			return reconcile.Result{}, nil
		}))

		go func() { _, _ = r.Reconcile(t.Context(), reconcile.Request{}) }()

		synctest.Wait()

		begin := time.Now()

		shutdown()
		synctest.Wait()

		// A worker of the controller does not know of the shutdown yet.
		go func() { _, _ = r.Reconcile(t.Context(), reconcile.Request{}) }()

		if diff := cmp.Diff(grace, (<-interrupted).Sub(begin)); diff != "" {
			t.Errorf("when runs are interrupted: -want, +got:\n%s", diff)
		}

		if err := <-ended; err != nil {
			t.Error(err)
		}

		if diff := cmp.Diff(int32(1), began.Load()); diff != "" {
			t.Errorf("reconciles that began: -want, +got:\n%s", diff)
		}
	})
}
