// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workspace runs the controllers of Workspaces. There is one
// implementation for every kind; it has never heard of shards.
package workspace

import (
	"context"
	"crypto/rand"
	"math"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Options of the Workspace controllers.
type Options struct {
	controller.Options

	// Runs are what the runs of all Workspaces have in common.
	Runs runner.Options

	// Configs finds the ProviderConfigs of Workspaces.
	Configs *providerconfig.Resolver

	// Root holds the working directories of all Workspaces.
	Root *workdir.Root

	// Timeout of everything that one reconcile does outside of Kubernetes.
	Timeout time.Duration

	// MaxApplies is how many applies and destroys of Workspaces of one kind may run
	// at once.
	MaxApplies int

	// Inherited says whether another instance, not an earlier incarnation of this
	// one, served a Workspace before.
	Inherited func(o client.Object) bool

	// PollJitter is the most by which a poll is put off or brought forward. How much
	// it is depends on the UID of the Workspace.
	PollJitter time.Duration

	// Host is the name of the host of this instance.
	Host string

	// Predecessors of this instance that worked on a Workspace.
	Predecessors func(o client.Object) statelock.Predecessors

	// Left is called when a Workspace has left the cache, and again when a reconcile of it
	// has ended that was in progress then.
	Left func(o client.Object)

	// IsServed says whether another instance, on the supplied host, may work on a Workspace
	// now.
	IsServed func(ctx context.Context, o client.Object, host string) bool

	// FailedRuns of this instance, on all kinds of Workspaces.
	FailedRuns *statelock.FailedRuns

	// StateUsers of the Terraform workspaces that this instance works with, for all kinds of
	// Workspaces.
	StateUsers *statelock.StateUsers

	// Wanted accepts the updates of Workspaces that ask for a reconcile although the
	// desired state has not changed: those that change what Wrap decides.
	Wanted predicate.Predicate

	// Wrap the reconciler of the supplied kind before it is added to its
	// controller. It decides what is passed on.
	Wrap func(r reconcile.Reconciler, kind workspace.Kind) (reconcile.Reconciler, error)
}

// Setup adds a controller for the supplied kind of Workspace. The client of mgr
// must be able to read a Workspace that is being reconciled until the reconcile
// is over.
func Setup(mgr manager.Manager, kind workspace.Kind, o Options) error {
	name := managed.ControllerName(kind.GroupKind)
	log := o.Logger.WithValues("controller", name)

	// The legacy recorder: providers are not granted events of events.k8s.io.
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(name), o.EventFilterFunctions...) //nolint:staticcheck // See above.

	m := newMemory()
	st := newStaller(o.PollInterval, time.Now, log)
	w := newWatch(m, st, func(ws client.Object) {
		o.Left(ws)

		// Who serves it next needs to know otherwise.
		if meta.WasDeleted(ws) {
			o.FailedRuns.Forget(ws.GetUID())
		}
	}, o.Wanted)
	l := newLanes(o.MaxApplies, w)
	s := &schedule{memory: m, poll: o.PollInterval, jitter: o.PollJitter, now: time.Now}

	ro := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector[workspace.Workspace](&connector{
			kube:      mgr.GetClient(),
			configs:   o.Configs,
			runs:      o.Runs,
			root:      o.Root,
			memory:    m,
			schedule:  s,
			inherited: o.Inherited,
			staller:   st,
			conflicts: &stateConflicts{live: mgr.GetAPIReader(), kube: mgr.GetClient(), now: time.Now},
			locks:     statelock.Detector{Host: o.Host, Predecessors: o.Predecessors, FailedRuns: o.FailedRuns, Users: o.StateUsers, IsServed: o.IsServed},
			record:    recorder,
			log:       log,
			process:   rand.Text(),
		}),
		managed.WithLogger(log),
		managed.WithRecorder(recorder),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(minPollInterval),
		managed.WithPollIntervalHook(s.wait),
		managed.WithTimeout(o.Timeout),
		// The name of the Terraform workspace is known before it is created, and
		// its state makes creation repeatable.
		managed.WithDeterministicExternalName(true),
		managed.WithCriticalAnnotationUpdater(&annotationUpdater{kube: mgr.GetClient()}),
		// What a plan says of the state is true at once. There is nothing to wait
		// for before a Workspace that was just created can be deleted, not even
		// until a clock here has reached what one on another machine said then.
		managed.WithCreationGracePeriod(math.MinInt64),
		managed.WithMetricRecorder(o.MetricOptions.MRMetrics),
	}

	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		ro = append(ro, managed.WithManagementPolicies())
	}

	if o.Features.Enabled(feature.EnableAlphaChangeLogs) {
		ro = append(ro, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}

	if err := mgr.Add(recordStates(mgr.GetClient(), mgr.GetCache(), kind, o.Options)); err != nil {
		return errors.Wrapf(err, "cannot add state metrics of %s", kind.GroupKind)
	}

	r := managed.NewReconciler(secretSizeManager{mgr}, resource.ManagedKind(kind.GroupVersionKind), ro...)

	// A request goes through these, from the last one to the first:
	//
	//  1. outermost takes the lane back when everything else is over, whoever gave up;
	//  2. Wrap lets nothing begin during a stop, and nobody go on but the owner;
	//  3. lanes makes what is going to be applied wait in the queue, not on a worker;
	//  4. expressway puts off polls that are too many, and nothing else;
	//  5. the staller puts off what keeps failing;
	//  6. watch sees to it that nothing is remembered of what left meanwhile.
	inner := st.reconciler(w.reconciler(r, mgr.GetClient(), kind), mgr.GetClient(), mgr.GetAPIReader(), kind)
	limited := w.expressway(inner, ratelimiter.NewReconciler(name, inner, o.GlobalRateLimiter), mgr.GetClient(), kind, s.isPoll)

	wrapped, err := o.Wrap(l.reconciler(limited, mgr.GetClient(), kind), kind)
	if err != nil {
		return errors.Wrapf(err, "cannot set up controller %s", name)
	}

	co := o.ForControllerRuntime()
	co.NewQueue = func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		q := w.newQueue(name, limiter)
		l.call = q.Add

		return q
	}

	return errors.Wrapf(builder.ControllerManagedBy(mgr).
		Named(name).
		WithOptions(co).
		Watches(kind.Object, w.handler()).
		Complete(l.outermost(wrapped)), "cannot set up controller %s", name)
}
