// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package app is one instance of the provider: its options, and the wiring of
// everything that runs in it.
package app

import (
	"context"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"

	workspacectrl "github.com/crossplane-contrib/provider-terraform/internal/controller/workspace"
	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/gc"
	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	ourmetrics "github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// releaseTimeout limits how long the release of the Lease may take. Together with
	// the defaults of --shutdown-grace and of the grace of an interrupted run it is no more
	// than the 30 seconds that Kubernetes gives a pod to stop.
	releaseTimeout = 5 * time.Second

	// sessionGrace is how long a working directory may be in use for longer than
	// --timeout: an interrupted run ends, and its files are removed.
	sessionGrace = time.Minute

	// initCacheDir, below the root of the working directories, is no UID: it is not
	// garbage.
	initCacheDir = ".initialized"

	// modulesDir, there too, has modules that several Workspaces use.
	modulesDir = ".modules"
)

// Run an instance until ctx is done. When it returns, no run of the CLI is left
// and the Lease is released.
func Run(ctx context.Context, o *Options) error {
	return explainUnauthorized(runInstance(ctx, o))
}

func runInstance(ctx context.Context, o *Options) error {
	logger := newLogger(o)
	ctrl.SetLogger(logger)
	// The leader election of client-go has a logger of its own.
	klog.SetLogger(logger)

	log := logging.NewLogrLogger(ctrl.Log.WithName("provider-terraform"))

	root, err := workdir.Open(o.Root, workdir.WithLongestUse(o.Timeout+sessionGrace))
	if err != nil {
		return errors.Wrap(err, "XP_TF_DIR")
	}

	if err := ensurePluginCache(o.Environ); err != nil {
		return err
	}

	m, err := ourmetrics.New(metrics.Registry)
	if err != nil {
		return err
	}

	m.Shard(o.Shard.Name(), o.Shard.Mode())

	d := drain.New(o.ShutdownGrace, o.Lease.AbortLimit())

	cli, err := terraform.Find(ctx, o.CLI, terraform.WithGracePeriod(o.Lease.InterruptGrace()), terraform.WithStop(d.Runs()), terraform.WithObserver(m.CLIRun))
	if err != nil {
		return errors.Wrap(err, "--cli")
	}

	cfg, err := newConfig(o)
	if err != nil {
		return err
	}

	credentials := watchCredentials(cfg)

	if err := ownRoot(ctx, cfg, root, log); err != nil {
		return err
	}

	identity, err := identify(ctx, cfg, o, log)
	if err != nil {
		return err
	}

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	lock, err := newLock(cfg, o, identity, log, cli.Changing, d, func(err error) {
		log.Info("Stopping, and interrupting what is in progress, because other instances may take over", "error", err)
		// The next instance must not find runs of this instance.
		d.Abort()
		fail(err)
	})
	if err != nil {
		return err
	}

	mgr, err := newManager(cfg, o, lock)
	if err != nil {
		return err
	}

	if err := mgr.Add(credentials); err != nil {
		return errors.Wrap(err, "cannot add watch of credentials")
	}

	initialized := initcache.New(filepath.Join(root.Path(), initCacheDir))
	if err := addRunnables(mgr, o, d, root, initialized, log, m); err != nil {
		return err
	}

	failures := statelock.NewFailedRuns()

	own, err := newOwnership(mgr, cfg, o, identity, lock, log, m, claim.WithLocks(failures))
	if err != nil {
		return err
	}

	co, closeOptions, err := controllerOptions(o, metrics.Registry, log)
	if err != nil {
		return err
	}
	defer closeOptions()

	wm := statusclient.NewManager(mgr, workspace.GroupVersionKinds()...)
	wo := workspacectrl.Options{
		Options: co,
		Runs: runner.Options{
			CLI:       cli,
			Fetcher:   newFetcher(mgr, o, filepath.Join(root.Path(), modulesDir)),
			InitCache: initialized,
			Environ:   o.Environ,
			Stop:      d.Runs(),
		},
		Root:       root,
		Timeout:    o.Timeout,
		PollJitter: o.PollJitter,

		Host:         lease.HostOf(identity),
		Predecessors: own.predecessors,
		IsServed:     own.isServed,
		Inherited:    own.previousOwnerWasOther,
		MaxApplies:   o.MaxApplies,
		Left:         wm.Forget,
		FailedRuns:   failures,
		StateUsers:   statelock.NewStateUsers(),
		Wanted:       claim.Changed(),
		Wrap: func(r reconcile.Reconciler, kind workspace.Kind) (reconcile.Reconciler, error) {
			r, err := own.wrap(ctx, r, kind)

			return d.Reconciler(r), err
		},
	}

	if err := setupControllers(ctx, mgr, wm, wo, fail); err != nil {
		return err
	}

	log.Info("Starting", "version", Version(), "serves", o.Shard.String(), "cli", cli.Path(), "cli-version", cli.Version(), "root", o.Root)

	return run(ctx, mgr, d, lock, log)
}

// run the manager until ctx is done. The lock is nil for an instance without a Lease.
func run(ctx context.Context, mgr manager.Manager, d *drain.Drain, lock *lease.Lock, log logging.Logger) error {
	err := mgr.Start(ctx)
	if err != nil {
		// Leader election is over, or an essential part failed.
		d.Abort()
	}

	// A manager that fails does not wait for its reconciles.
	d.Wait()

	if lock != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()

		if err := lock.Release(ctx); err != nil {
			log.Info("Cannot release the Lease, others wait until it expires", "error", err)
		}

		if err := lock.Lost(); err != nil {
			return err
		}
	}

	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}

	return errors.Wrap(err, "cannot run")
}

// addRunnables adds the runnables beside the controllers.
func addRunnables(mgr manager.Manager, o *Options, d *drain.Drain, root *workdir.Root, initialized *initcache.Cache, log logging.Logger, m *ourmetrics.Metrics) error {
	if err := addProbes(mgr, o); err != nil {
		return err
	}

	if err := mgr.Add(d); err != nil {
		return errors.Wrap(err, "cannot add drain")
	}

	if err := mgr.Add(initialized); err != nil {
		return errors.Wrap(err, "cannot add cache of initialized directories")
	}

	if dir, _ := environ.Lookup(o.Environ, plugincache.Variable); filepath.IsAbs(dir) {
		if err := mgr.Add(plugincache.NewPruner(dir, root.Initialized)); err != nil {
			return errors.Wrap(err, "cannot add what keeps providers")
		}
	}

	if err := mgr.Add(gc.NewSecretCleaner(root, mgr.GetAPIReader(), o.Shard.Selector(), o.GCInterval, runner.RemoveSecrets, log)); err != nil {
		return errors.Wrap(err, "cannot add what removes leftovers")
	}

	return errors.Wrap(mgr.Add(gc.New(root, mgr.GetAPIReader(), workspace.GroupVersionKinds(), o.GCInterval, gc.WithLogger(log), gc.WithMetrics(m))), "cannot add garbage collector")
}

// A creation needs more than a dozen requests, which would take one worker longer than
// the CLI does if all that limits them is --max-reconcile-rate. These are the limits of
// kube-controller-manager. They are for each kind of object: controller-runtime has a REST
// client for each, and nothing that all of them share.
const (
	minQPS   = 20
	minBurst = 30
)

func newConfig(o *Options) (*rest.Config, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, errors.Wrap(err, "cannot load the configuration of the Kubernetes client: set KUBECONFIG, or run in a cluster")
	}

	cfg = rest.CopyConfig(cfg)
	cfg.QPS = float32(max(5*o.MaxReconcileRate, minQPS))
	cfg.Burst = max(10*o.MaxReconcileRate, minBurst)
	// The API server warns about the name of Crossplane's finalizers whenever one is
	// written, and the readers of the log cannot change that.
	cfg.WarningHandlerWithContext = rest.NoWarnings{}

	return cfg, nil
}

// newManager returns a manager that holds the supplied Lease, nil if it holds none.
func newManager(cfg *rest.Config, o *Options, lock *lease.Lock) (manager.Manager, error) {
	// The scheme is complete before the manager is made: the cache needs it to
	// tell which of the kinds in ByObject are namespaced.
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}

	// The API server, not the reconciler, keeps other shards' Workspaces away, so
	// that an instance holds its share of them in memory.
	byObject := map[client.Object]cache.ByObject{
		&extv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
	}
	for _, k := range workspace.Kinds() {
		byObject[k.Object] = cache.ByObject{Label: o.Shard.Selector()}
	}

	uncached := []client.Object{&corev1.ConfigMap{}}
	if !o.EnableSecretCache {
		uncached = append(uncached, &corev1.Secret{})
	}

	mapper, err := newCacheMapper(cfg)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make mapper of kinds")
	}

	mo := ctrl.Options{
		Scheme: scheme,
		Cache: cache.Options{
			Mapper:           mapper,
			SyncPeriod:       &o.SyncInterval,
			ByObject:         byObject,
			DefaultTransform: providerconfig.CompactUsages(cache.TransformStripManagedFields()),
		},
		Client:                 client.Options{Cache: &client.CacheOptions{DisableFor: uncached}},
		Metrics:                metricsserver.Options{BindAddress: o.MetricsBindAddress},
		HealthProbeBindAddress: o.HealthProbeBindAddress,
		LeaderElection:         o.HoldsLease,
		// Leader election would release the Lease whenever it ends, which it also does
		// while runs are in progress.
		LeaderElectionReleaseOnCancel: false,
		// The duration that is written and the deadline that counts are those of the
		// lock. Leader election must not give up before.
		LeaseDuration: new(o.electionDeadline() + time.Minute),
		RenewDeadline: new(o.electionDeadline()),
		RetryPeriod:   &o.Lease.RetryPeriod,
		// The drain limits the shutdown.
		GracefulShutdownTimeout: new(time.Duration(-1)),
	}
	if lock != nil {
		mo.LeaderElectionResourceLockInterface = lock
	}

	mgr, err := ctrl.NewManager(cfg, mo)

	return mgr, errors.Wrap(err, "cannot make manager")
}

// newFetcher returns a fetcher that reads Flux sources from the API server: the
// right to watch them may be missing, and a cache would wait for it without a word.
func newFetcher(mgr manager.Manager, o *Options, shared string) *module.Fetcher {
	fo := []module.Option{module.WithSharedModules(shared)}
	if o.NoCrossNamespaceRefs {
		fo = append(fo, module.WithoutCrossNamespaceRefs())
	}

	return module.NewFetcher(mgr.GetAPIReader(), mgr.GetRESTMapper(), fo...)
}

// ensurePluginCache makes the directory that TF_PLUGIN_CACHE_DIR names, because
// the CLI refuses to run without it.
func ensurePluginCache(env []string) error {
	dir, _ := environ.Lookup(env, plugincache.Variable)
	if dir == "" {
		return nil
	}

	_, err := workdir.Open(filepath.Clean(dir))

	return errors.Wrap(err, plugincache.Variable)
}
