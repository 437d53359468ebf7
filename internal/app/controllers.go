// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	changelogsv1alpha1 "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	xpgate "github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	configctrl "github.com/crossplane-contrib/provider-terraform/internal/controller/config"
	workspacectrl "github.com/crossplane-contrib/provider-terraform/internal/controller/workspace"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	crdGroup    = "apiextensions.k8s.io"
	crdResource = "customresourcedefinitions"
)

// addControllers adds a controller for every kind, when its CRDs exist, or at once if those may not be
// watched.
//
// Controllers start their informers themselves. A manager waits for those that exist before it
// starts, for ever if they are refused, and even when it has to stop.
func (i *instance) addControllers(ctx context.Context) error {
	co, err := controllerOptions(i.o, metrics.Registry, i.log)
	if err != nil {
		return err
	}

	// Crossplane grants these rights to providers with the capability SafeStart.
	missing, err := missingRight(ctx, i.unlimited, authorizationv1.ResourceAttributes{Group: crdGroup, Resource: crdResource}, "list", "watch")
	if err != nil {
		return errors.Wrap(err, "cannot find out whether CustomResourceDefinitions may be watched")
	}

	start := func(setup func() error, _ ...schema.GroupVersionKind) error { return setup() }

	if missing != "" {
		i.log.Info("Starting all controllers at once, because CustomResourceDefinitions may not be watched: if one does not exist, this instance ends", "verb", missing, "group", crdGroup, "resource", crdResource, "remedy", rightsRemedy)
	} else {
		g := &xpgate.Gate[schema.GroupVersionKind]{}
		co.Gate = g

		if err := customresourcesgate.Setup(i.mgr, co); err != nil {
			return errors.Wrap(err, "cannot set up CRD gate")
		}

		start = func(setup func() error, needs ...schema.GroupVersionKind) error {
			g.Register(func() {
				if err := i.setups.do(setup); err != nil {
					i.fail(err)
				}
			}, needs...)

			return nil
		}
	}

	for _, k := range providerconfig.Kinds() {
		if err := start(func() error { return configctrl.Setup(i.mgr, k, co) }, k.Config, k.ProviderConfigKinds.Usage); err != nil {
			return err
		}
	}

	wo, err := i.workspaceOptions(co)
	if err != nil {
		return err
	}

	for _, k := range workspace.Kinds() {
		setup := func() error {
			i.setups.kinds = append(i.setups.kinds, k.GroupVersionKind)

			return workspacectrl.Setup(i.mgr, k, wo)
		}

		if err := start(setup, k.GroupVersionKind); err != nil {
			return err
		}
	}

	return nil
}

// controllerOptions returns the options that all controllers share. Their metrics are registered with r.
func controllerOptions(o *Options, r prometheus.Registerer, log logging.Logger) (controller.Options, error) {
	co := controller.Options{
		Logger:                  log,
		MaxConcurrentReconciles: o.MaxReconcileRate,
		PollInterval:            o.PollInterval,
		Features:                &feature.Flags{},
		MetricOptions: &controller.MetricOptions{
			PollStateMetricInterval: o.PollStateMetricInterval,
			MRMetrics:               managed.NewMRMetricRecorder(),
			MRStateMetrics:          statemetrics.NewMRStateMetrics(),
		},
	}

	for _, c := range []prometheus.Collector{co.MetricOptions.MRMetrics, co.MetricOptions.MRStateMetrics} {
		if err := r.Register(c); err != nil {
			return co, errors.Wrap(err, "cannot register metrics of managed resources")
		}
	}

	if o.EnableManagementPolicies {
		co.Features.Enable(feature.EnableBetaManagementPolicies)
	}

	if o.EnableChangeLogs {
		// The socket is local to the pod, so encryption is not necessary.
		conn, err := grpc.NewClient("unix://"+o.ChangeLogsSocketPath, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return co, errors.Wrapf(err, "cannot use --changelogs-socket-path %q", o.ChangeLogsSocketPath)
		}

		co.Features.Enable(feature.EnableAlphaChangeLogs)
		co.ChangeLogOptions = &controller.ChangeLogOptions{
			ChangeLogger: managed.NewGRPCChangeLogger(changelogsv1alpha1.NewChangeLogServiceClient(conn), managed.WithProviderVersion(Version())),
		}
	}

	return co, nil
}

func (i *instance) workspaceOptions(co controller.Options) (workspacectrl.Options, error) {
	program, err := fetch.Program()

	return workspacectrl.Options{
		Options: co,
		Runs: runner.Options{
			Held: &runner.HeldStates{},
			Fetcher: module.NewFetcher(i.mgr.GetAPIReader(), module.Options{
				Program:       program,
				SharedDir:     filepath.Join(i.root.Path(), modulesDir),
				Observe:       i.metrics.Cache("module"),
				SameNamespace: i.o.NoCrossNamespaceRefs,
			}),
			InitCache:      i.initCache,
			ObservePackage: i.metrics.Cache("plugin"),
			Environ:        i.o.Environ,
			Stop:           i.drain.Runs(),
		},
		CLIs:          i.clis,
		PlanNamespace: i.o.LeaseNamespace,
		Configs:       providerconfig.NewResolver(i.mgr.GetClient()),
		Tokens:        providerconfig.NewTokens(i.mgr.GetClient(), i.mgr.GetAPIReader(), i.o.Timeout),
		Root:          i.root,
		Timeout:       i.o.Timeout,
		PollJitter:    i.o.PollJitter,
		MaxApplies:    i.o.MaxApplies,
		Metrics:       i.metrics,

		Locks: statelock.Detector{
			Host:         session.HostOf(i.identity),
			Predecessors: i.predecessors,
			IsServed:     i.isServed,
			FailedRuns:   i.failedRuns,
			Users:        statelock.NewStateUsers(),
			LongestRun:   i.o.Timeout + reconcileMargin,
		},

		ServedByOtherBefore: i.claims.ServedByOtherBefore,
		ClaimChanged:        i.claims.Changed(),
		WithClaims: func(r *schedule.Reconciler, kind workspace.Kind) reconcile.Reconciler {
			return i.drain.Reconciler(i.claims.Reconciler(r, kind.GroupVersionKind, kind.Object))
		},
		Left: i.claims.Left,
	}, err
}

// Setups add controllers to a manager that runs. The manager does not stop during one of them: if it
// stops while two runnables are added, the runnable groups of controller-runtime v0.25.2 may block for
// ever. The one that was added takes the read lock, for which a waiting writer, the stop, goes first, and
// that waits for the one to be added. Then other instances would wait until the Lease expires.
type setups struct {
	mu      sync.Mutex
	stopped bool

	// kinds of Workspace whose controllers are set up.
	kinds []schema.GroupVersionKind
}

func (s *setups) has(kind schema.GroupVersionKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Contains(s.kinds, kind)
}

func (s *setups) do(setup func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stopped {
		return nil
	}

	return setup()
}

// stopAfter returns the context of the manager. It is done after ctx is, as soon as no setup is in progress.
func (s *setups) stopAfter(ctx context.Context) (context.Context, context.CancelFunc) {
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))

	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()

		cancel()
	})

	return stop, cancel
}
