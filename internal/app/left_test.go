// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	workspacectrl "github.com/crossplane-contrib/provider-terraform/internal/controller/workspace"
	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/background"
)

// A sourceCache is a singleCache that passes on the handler of the events about Workspaces.
type sourceCache struct {
	singleCache

	handlers chan toolscache.ResourceEventHandler

	// mu is for the FakeInformers, which two controllers ask at the same time.
	mu *sync.Mutex
}

func (c sourceCache) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	i, err := c.singleCache.GetInformer(ctx, o, opts...)

	return sourceInformer{Informer: i, c: c}, err
}

// controllersOfKind is the number of controllers of a kind of Workspaces: that of finalizers is one of its own.
const controllersOfKind = 2

type sourceInformer struct {
	cache.Informer

	c sourceCache
}

func (i sourceInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.c.mu.Lock()
	defer i.c.mu.Unlock()

	i.c.handlers <- h

	return i.Informer.AddEventHandlerWithOptions(h, o)
}

// TestForgetsFailedRuns deletes a Workspace after a failed run. It has no finalizer yet, so that the
// API server has removed it at once, and no version of it has a deletion timestamp.
func TestForgetsFailedRuns(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string

		// during says that the Workspace is deleted during the run.
		during bool
	}{
		"Idle":      {reason: "Only the event says that the Workspace is gone."},
		"DuringRun": {reason: "The run fails after the event.", during: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFailing(t)

			hs := [controllersOfKind]toolscache.ResourceEventHandler{<-f.handlers, <-f.handlers}
			remove := func() {
				for _, h := range hs {
					h.OnDelete(f.ws)
				}
			}

			f.run = func() {
				if tc.during {
					remove()
				}

				f.failedRuns.Record(f.ws.GetUID(), statelock.Run{})
			}

			for _, h := range hs {
				h.OnAdd(f.ws, false)
			}

			<-f.ended

			if !tc.during {
				if !f.failedRuns.Any(f.ws.GetUID()) {
					t.Error("want a failed run of a Workspace that exists to be remembered")
				}

				remove()
			}

			if f.failedRuns.Any(f.ws.GetUID()) {
				t.Errorf("%s\nwant no failed runs of a Workspace that is gone", tc.reason)
			}
		})
	}
}

// A failing instance is unsharded. It has the controller of cluster-scoped Workspaces, without an
// API server. Its only Workspace has no ProviderConfig.
type failing struct {
	ws         *clusterv1beta1.Workspace
	failedRuns *statelock.FailedRuns
	handlers   chan toolscache.ResourceEventHandler

	// run is called in the first reconcile.
	run func()

	// ended is closed at the end of the first reconcile.
	ended chan struct{}
}

func newFailing(t *testing.T) *failing {
	t.Helper()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	root, err := workdir.Open(t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	f := &failing{
		ws:         &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid"}},
		failedRuns: statelock.NewFailedRuns(),
		handlers:   make(chan toolscache.ResourceEventHandler, controllersOfKind),
		ended:      make(chan struct{}),
	}

	var running sync.Once

	kube := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(f.ws).WithObjects(f.ws).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			running.Do(func() { f.run() })

			return c.SubResource(name).Update(ctx, o, opts...)
		},
	}).Build()
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(f.ws), f.ws); err != nil {
		t.Fatal(err)
	}

	workspaces := sourceCache{singleCache: singleCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, ws: f.ws}, handlers: f.handlers, mu: &sync.Mutex{}}

	mgr, err := manager.New(&rest.Config{}, manager.Options{
		Scheme:         scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return kube.RESTMapper(), nil },
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return workspaces, nil },
		NewClient: func(*rest.Config, client.Options) (client.Client, error) {
			return statusclient.NewClient(kube, workspaces), nil
		},
		Logger:     logr.Discard(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}

	i := &instance{
		o:          &Options{MaxReconcileRate: 1, MaxApplies: 1, PollInterval: time.Hour, PollStateMetricInterval: time.Hour, Timeout: time.Hour},
		mgr:        mgr,
		root:       root,
		drain:      drain.New(time.Hour, time.Hour),
		metrics:    metrics.New(nil),
		failedRuns: f.failedRuns,
	}
	i.sessions = session.NewObserver(kube, "", session.Timing{}, logging.NewNopLogger())
	i.claims = claim.New(shard.ID{}, claim.Claim{}, i.sessions, workspaces, kube, claim.Options{
		FailedRuns: f.failedRuns, Recorder: event.NewNopRecorder(), Metrics: i.metrics, MayRun: func() error { return nil },
	})

	co, err := controllerOptions(i.o, prometheus.NewRegistry(), logging.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}

	// There is no API server for them.
	co.EventFilterFunctions = []event.FilterFn{func(runtime.Object, event.Event) bool { return true }}

	o, err := i.workspaceOptions(co)
	if err != nil {
		t.Fatal(err)
	}

	withClaims := o.WithClaims
	o.WithClaims = func(r *schedule.Reconciler, kind workspace.Kind) reconcile.Reconciler {
		var ending sync.Once

		inner := withClaims(r, kind)

		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			defer ending.Do(func() { close(f.ended) })

			return inner.Reconcile(ctx, req)
		})
	}

	if err := workspacectrl.Setup(mgr, workspace.Kinds()[0], o); err != nil {
		t.Fatal(err)
	}

	background.Run(t, mgr.Start)

	return f
}
