// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A sweepingManager has a runnable without leader election that ends long after ctx is done. Only
// then does it tell the drain, like a real manager.
type sweepingManager struct {
	manager.Manager

	drain manager.Runnable
}

func (m *sweepingManager) Start(ctx context.Context) error {
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
		i := &instance{o: &Options{}, log: logging.NewNopLogger(), clis: &terraform.Store{Default: &terraform.CLI{}}, drain: d, mgr: &sweepingManager{drain: d}}
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

func TestNewLogger(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		debug  bool
	}{
		"Default": {reason: "Debug messages are off by default."},
		"Debug":   {reason: "A flag turns them on.", debug: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := newLogger(&Options{Debug: tc.debug})

			if got := l.V(1).Enabled(); got != tc.debug {
				t.Errorf("%s: want debug messages: %t, got: %t", tc.reason, tc.debug, got)
			}

			if !l.Enabled() {
				t.Errorf("%s: want other messages in any case", tc.reason)
			}
		})
	}
}
