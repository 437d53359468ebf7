// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestManager stops a real manager while one reconcile is in progress and
// another is queued behind it. The manager has no API server: its leader lock is
// in memory, and it watches nothing. A runnable without leader election returns
// late, and the manager waits for it before it tells the controller and the Drain.
func TestManager(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal

		lock := &memoryLock{log: &log}
		unlimited := time.Duration(-1)

		mgr, err := manager.New(&rest.Config{}, manager.Options{
			Scheme: runtime.NewScheme(),
			MapperProvider: func(_ *rest.Config, _ *http.Client) (meta.RESTMapper, error) {
				return meta.NewDefaultRESTMapper(nil), nil
			},
			Logger:                              logr.Discard(),
			Metrics:                             metricsserver.Options{BindAddress: "0"},
			LeaderElection:                      true,
			LeaderElectionResourceLockInterface: lock,
			GracefulShutdownTimeout:             &unlimited,
		})
		if err != nil {
			t.Fatal(err)
		}

		ctx, shutdown := context.WithCancel(t.Context())

		d := New(grace, limit)
		if err := errors.Join(mgr.Add(d), mgr.Add(late(time.Hour))); err != nil {
			t.Fatal(err)
		}

		context.AfterFunc(ctx, d.Stop)

		c, err := controller.New("drain", mgr, controller.Options{
			MaxConcurrentReconciles: 1,
			Reconciler: d.Reconciler(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				log.add(req.Name + " begins")
				shutdown()

				begin := time.Now()

				<-d.Runs().Done()
				log.add("run is interrupted")

				if diff := cmp.Diff(grace, time.Since(begin)); diff != "" {
					t.Errorf("when the run is interrupted: -want, +got:\n%s", diff)
				}

				time.Sleep(time.Minute) // longer than the Lease lasts unless it is renewed

				if since := time.Since(lock.renewed()); since > 10*time.Second {
					t.Errorf("the Lease has not been renewed for %s", since)
				}

				if ctx.Err() != nil {
					log.add("reconcile is canceled")
				}

				log.add(req.Name + " ends")

				return reconcile.Result{}, nil
			})),
		})
		if err != nil {
			t.Fatal(err)
		}

		if err := c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: "first"}})
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: "second"}})

			return nil
		})); err != nil {
			t.Fatal(err)
		}

		if err := mgr.Start(ctx); err != nil {
			t.Error(err)
		}

		log.add("manager returns")

		renewed := lock.renewed()

		time.Sleep(time.Minute)

		if diff := cmp.Diff(renewed, lock.renewed()); diff != "" {
			t.Errorf("leader election goes on after the manager has returned: -want, +got:\n%s", diff)
		}

		want := []string{
			"lease is acquired",
			"first begins",
			"run is interrupted",
			"first ends",
			"manager returns",
		}
		if diff := cmp.Diff(want, log.all()); diff != "" {
			t.Errorf("the manager returns after the last reconcile, and does not release the Lease: -want, +got:\n%s", diff)
		}
	})
}

// A late runnable needs no leader election, and returns so long after the manager stops.
type late time.Duration

func (l late) Start(ctx context.Context) error {
	<-ctx.Done()
	<-time.After(time.Duration(l))

	return nil
}

func (l late) NeedLeaderElection() bool { return false }

// A journal is the list of events, in order.
type journal struct {
	mu     sync.Mutex
	events []string
}

func (j *journal) add(event string) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.events = append(j.events, event)
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()

	return j.events
}

// A memoryLock is a leader lock that records who gets and who loses it.
type memoryLock struct {
	log *journal

	mu     sync.Mutex
	record *resourcelock.LeaderElectionRecord
}

func (l *memoryLock) Get(_ context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.record == nil {
		return nil, nil, kerrors.NewNotFound(schema.GroupResource{Resource: "leases"}, l.Describe())
	}

	ler := *l.record

	return &ler, []byte(ler.RenewTime.String()), nil
}

func (l *memoryLock) Create(_ context.Context, ler resourcelock.LeaderElectionRecord) error {
	l.log.add("lease is acquired")
	l.mu.Lock()
	defer l.mu.Unlock()

	l.record = &ler

	return nil
}

func (l *memoryLock) Update(_ context.Context, ler resourcelock.LeaderElectionRecord) error {
	if ler.HolderIdentity == "" {
		l.log.add("lease is released")
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	l.record = &ler

	return nil
}

func (l *memoryLock) renewed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.record.RenewTime.Time
}

func (l *memoryLock) RecordEvent(_ string) {}
func (l *memoryLock) Identity() string     { return "me" }
func (l *memoryLock) Describe() string     { return "lock" }
