// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package app contains one instance of the provider: it parses the options, and connects all parts.
package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/gc"
	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	ourmetrics "github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// releaseTimeout limits the end of the session and the release of the Lease. With the defaults of
	// --shutdown-grace and of the grace of an interrupted run it is at most the 30 seconds in which a pod must stop.
	releaseTimeout = 5 * time.Second

	// reconcileMargin is longer than the time that one pass of a reconcile takes beyond --timeout: the
	// managed reconciler adds half a minute, and an interrupted run takes its grace period. Then there
	// is a minute to save its state, and the grace period of the last attempt.
	reconcileMargin = 2 * time.Minute

	// These are below the root of the working directories. They are no UIDs, so that they are not
	// collected as garbage.
	initCacheDir = ".initialized"
	modulesDir   = ".modules"
)

// An instance contains the parts of a running provider. Each step of Run sets some of them.
type instance struct {
	o *Options

	log     logging.Logger
	metrics *ourmetrics.Metrics

	// fail ends the instance with an error.
	fail context.CancelCauseFunc

	root      *workdir.Root
	initCache *initcache.Cache
	drain     *drain.Drain
	clis      *terraform.Store

	config *rest.Config

	// unlimited is the client of the steps before there is a manager, of claims, of sessions, and of the
	// writes of the assigner. The assigner limits its writes of labels itself.
	unlimited client.Client

	// identity in the Lease and the claims.
	identity string

	// hasSession says that this process has a session, and lacksLeaseRight that it had no right to one.
	// process is its process file, or nil. session is set when it is open, unopened is the error of the last try before that, and
	// election is nil without one.
	hasSession      bool
	lacksLeaseRight bool
	process         *incarnation.ProcessFile
	session         atomic.Pointer[session.Session]
	unopened        atomic.Pointer[error]
	election        *session.Election
	members         *membership
	sessions        *session.Observer

	mgr        manager.Manager
	setups     setups
	cache      refusingCache
	failedRuns *statelock.FailedRuns

	claims *claim.Claims
}

// Run runs an instance until ctx is done. When it returns, no run of the CLI is left, and the
// session has ended if the API server answers.
func Run(ctx context.Context, o *Options) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	setLoggers(o)

	i := &instance{
		o:          o,
		log:        logging.NewLogrLogger(ctrl.Log.WithName("provider-terraform")),
		metrics:    ourmetrics.New(metrics.Registry),
		fail:       fail,
		drain:      drain.New(o.ShutdownGrace, o.Lease.AbortLimit()),
		failedRuns: statelock.NewFailedRuns(),
	}
	i.metrics.Shard(o.Shard.Value(), o.Shard.Mode())

	for _, step := range []func(context.Context) error{
		i.openRoot,
		i.findCLIs,
		i.loadConfig,
		i.bindRoot,
		i.identify,
		i.observe,
		i.newManager,
		i.checkShardRange,
		i.addAwaiting,
		i.run,
	} {
		if err := step(ctx); err != nil {
			return explainUnauthorized(err)
		}
	}

	return nil
}

func setLoggers(o *Options) {
	logger := newLogger(o)
	ctrl.SetLogger(logger)
	// The leader election of client-go has its own logger.
	klog.SetLogger(logger)
}

func (i *instance) openRoot(context.Context) (err error) {
	if i.root, err = workdir.Open(i.o.Root, i.o.Timeout+reconcileMargin); err != nil {
		return errors.Wrap(err, "XP_TF_DIR")
	}

	i.initCache = initcache.New(filepath.Join(i.root.Path(), initCacheDir), i.metrics.Cache("init"))

	if _, err := workdir.Usable(os.TempDir()); err != nil {
		i.log.Info("Plugins that need a socket cannot start, mount a volume there", "TMPDIR", os.TempDir(), "error", err)
	}

	dir, _ := environ.Lookup(i.o.Environ, plugincache.Variable)
	if dir == "" {
		return nil
	}

	_, err = workdir.Usable(filepath.Clean(dir))

	// The CLI refuses to run without this directory. It need not write there, if no ProviderConfig uses the plugin cache.
	if info, statErr := os.Stat(dir); err != nil && statErr == nil && info.IsDir() {
		i.log.Info("The plugin cache cannot be written. Set pluginCache to false in all ProviderConfigs, or mount a volume there", plugincache.Variable, dir, "error", err)

		return nil
	}

	return errors.Wrap(err, plugincache.Variable)
}

func (i *instance) findCLIs(ctx context.Context) error {
	o := terraform.Options{Grace: i.o.Lease.InterruptGrace(), Stop: i.drain.Runs(), Begin: i.begin, Observe: i.metrics.CLIRun}

	standard, err := terraform.Find(ctx, i.o.CLI, o)
	if err != nil {
		return errors.Wrap(err, "--cli")
	}

	if i.clis, err = terraform.OpenStore(ctx, standard, i.o.CLIDir, o); err != nil {
		return errors.Wrap(err, "--cli-dir")
	}

	for _, c := range i.clis.All() {
		i.metrics.CLI(string(c.Product), c.Version)
	}

	return nil
}

func (i *instance) loadConfig(context.Context) (err error) {
	if i.config, err = newConfig(i.o); err != nil {
		return err
	}

	watchCredentials(i.config, i.abort, time.Now)
	logMissingRights(i.config, i.log, time.Now)

	scheme, err := newScheme()
	if err != nil {
		return err
	}

	// At the start of an instance there are four requests about claims for every Workspace. A
	// limit per second would spread them over minutes. Each worker has only one request at a time.
	cfg := rest.CopyConfig(i.config)
	cfg.QPS = -1

	i.unlimited, err = client.New(cfg, client.Options{Scheme: scheme})

	return errors.Wrap(err, "cannot make client")
}

// abort interrupts the runs in progress, and ends the instance with an error.
func (i *instance) abort(err error) {
	i.drain.Abort()
	i.fail(err)
}

// addAwaiting adds what runs from the start of the process. It joins the rest when it may work.
func (i *instance) addAwaiting(context.Context) error {
	if err := i.addProbes(); err != nil {
		return err
	}

	runnables := []manager.Runnable{
		i.sessions,
		i.drain,
		manager.RunnableFunc(i.join),
		&gc.SecretCleaner{
			Root:         i.root,
			Live:         i.mgr.GetAPIReader(),
			Served:       i.o.Shard,
			Interval:     i.o.GCInterval,
			PollInterval: i.o.PollInterval,
			Remove:       runner.RemoveSecrets,
			Log:          i.log,
		},
	}
	if dir, _ := environ.Lookup(i.o.Environ, plugincache.Variable); filepath.IsAbs(dir) {
		runnables = append(runnables, &plugincache.Pruner{Cache: dir, Initialized: i.root.Initialized})
	}

	if i.lacksLeaseRight {
		runnables = append(runnables, i.leaseRight())
	}

	return i.add(runnables...)
}

// addRunnables adds what runs when this process may work, except for controllers.
func (i *instance) addRunnables(context.Context) error {
	runnables := append(i.shardRunnables(),
		i.initCache,
		manager.RunnableFunc(func(ctx context.Context) error {
			return module.Evict(ctx, filepath.Join(i.root.Path(), modulesDir))
		}),
		gc.New(i.root, i.mgr.GetAPIReader(), workspace.GroupVersionKinds(), i.o.GCInterval, i.log, i.metrics),
	)

	return i.add(runnables...)
}

func (i *instance) add(runnables ...manager.Runnable) error {
	for _, r := range runnables {
		if err := i.mgr.Add(r); err != nil {
			return errors.Wrapf(err, "cannot add %T", r)
		}
	}

	return nil
}

func (i *instance) run(ctx context.Context) error {
	i.log.Info("Starting", "version", Version(), "serves", i.o.Shard.String(), "cli", i.clis.Default.Path, "cli-version", i.clis.Default.Version, "clis", i.clis.All(), "root", i.o.Root)

	// A manager tells its controllers and the drain only after it has waited for all that needs no
	// leader election, for example a sweep of the disk.
	defer context.AfterFunc(ctx, i.drain.Stop)()

	i.members = newMembership(ctx)

	stop, cancel := i.setups.stopAfter(ctx)
	defer cancel()

	err := i.mgr.Start(stop)
	if err != nil {
		// An essential part has failed.
		i.drain.Abort()
	}

	// A manager that fails does not wait for its reconciles.
	i.drain.Wait()

	if err := i.leave(ctx); err != nil {
		return err
	}

	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}

	if err != nil {
		err = errors.Join(err, i.cache.missing())
	}

	return errors.Wrap(err, "cannot run")
}

// newLogger returns the logger of the process. Every line contains the shard.
func newLogger(o *Options) logr.Logger {
	encoder := zap.ConsoleEncoder
	if o.LogEncoding == "json" {
		encoder = zap.JSONEncoder
	}

	return zap.New(zap.UseDevMode(o.Debug), encoder(func(c *zapcore.EncoderConfig) {
		c.EncodeTime = zapcore.ISO8601TimeEncoder
	})).WithValues("shard", o.Shard.Value())
}

// Version returns the version of this program as the Go toolchain recorded it: the version of the
// module, the commit, and the toolchain.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "provider-terraform (unknown version)"
	}

	revision, modified := "", ""

	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = ", commit " + s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = ", modified"
			}
		}
	}

	return fmt.Sprintf("provider-terraform %s (%s%s%s)", info.Main.Version, info.GoVersion, revision, modified)
}
