// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workspace has the controllers of Workspaces. All kinds have the same implementation. It
// does not depend on shards: the package app puts those in front, with Options.WithClaims.
//
// The way of a Workspace:
//
//  1. An event, or the end of a delay, adds it to the work queue (schedule.NewQueue).
//  2. The drain passes it on unless this instance is stopping.
//  3. The claim.Reconciler reads it from the cache. If a live instance has claimed it, it waits. If
//     step 4 would not pass it on, nothing else happens. Otherwise it is claimed and passed on.
//  4. The schedule.Reconciler passes it on if there is something to do now (Policy.Decide).
//  5. The managed.Reconciler of crossplane-runtime calls Connect, which gathers the inputs and makes
//     a plan, unless the last observation still holds or the Workspace is being deleted. Observe
//     records and returns the result.
//  6. It calls Create or Update, which apply the plan, or Delete, which destroys.
//  7. It writes the status. After a creation or deletion, step 4 passes the Workspace on once more.
package workspace

import (
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
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Options of the Workspace controllers.
type Options struct {
	controller.Options

	// Runs has no CLI: that of a run is one of CLIs.
	Runs    runner.Options
	CLIs    *terraform.Store
	Configs *providerconfig.Resolver
	Tokens  *providerconfig.Tokens
	Root    *workdir.Root // has the working directories
	Metrics Metrics

	// PlanNamespace is the namespace of the Secrets with plans of cluster-scoped Workspaces.
	PlanNamespace string

	// Locks finds locks of dead processes. All kinds of Workspaces share it.
	Locks statelock.Detector

	// Timeout limits everything that one pass of the managed reconciler does outside of Kubernetes,
	// except for the attempts to save a state: see minSaveTimeout.
	Timeout time.Duration

	// MaxApplies is the maximum number of concurrent applies and destroys of Workspaces of one kind.
	MaxApplies int

	// ServedByOtherBefore says whether another instance, not an earlier incarnation of this one, may
	// have served a Workspace before: this one took it with another claim, or without any.
	ServedByOtherBefore func(o client.Object) bool

	// PollJitter is the largest time by which a poll is delayed or advanced.
	PollJitter time.Duration

	// ClaimChanged accepts the updates of Workspaces that change the decision of WithClaims.
	ClaimChanged predicate.Predicate

	// WithClaims returns a reconciler that reads each Workspace of the supplied kind, and passes it
	// to r if this instance may work on it now.
	WithClaims func(r *schedule.Reconciler, kind workspace.Kind) reconcile.Reconciler

	// Left is called with each Workspace that has left the cache and, if that happens during a
	// reconcile, once more at its end.
	Left func(o client.Object)
}

// Metrics of the Workspace controllers.
type Metrics interface {
	ReconcileMetrics
	StateMetrics

	// Apply slots, how many Workspaces hold or wait for one, and how long they have waited.
	ApplySlots(controller string, slots int)
	Applies(controller string, running, waiting int)
	ApplySlotWaited(controller string, took time.Duration)
}

// StateMetrics has the state of all Workspaces.
type StateMetrics interface {
	// Workspaces is called with the number of Workspaces of a kind whose condition is True.
	Workspaces(gvk, condition string, n int)
}

// ReconcileMetrics has what reconciles have achieved.
type ReconcileMetrics interface {
	// BecameReady is called when a Workspace is Ready after a person has created or changed it.
	BecameReady(controller string, took time.Duration)

	// Drifted is called with what was done about a drift: driftCorrected or driftReported.
	Drifted(action string)

	// OrphanLockRemoved is called when the lock of a dead process was removed from a state.
	OrphanLockRemoved()
}

// Setup adds a controller for the supplied kind of Workspace. The client of mgr must read
// Workspaces from the API server, and must be a client of the package statusclient.
func Setup(mgr manager.Manager, kind workspace.Kind, o Options) error {
	name := managed.ControllerName(kind.GroupKind())
	log := o.Logger.WithValues("controller", name)

	// The legacy recorder: providers are not granted events of events.k8s.io.
	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor(name), o.EventFilterFunctions...) //nolint:staticcheck // See above.

	policy := policyOf(o)
	records := schedule.NewRecords(policy, time.Now)
	slots := schedule.NewSlots(o.MaxApplies, records,
		func(held, waiting int) { o.Metrics.Applies(name, held, waiting) },
		func(took time.Duration) { o.Metrics.ApplySlotWaited(name, took) })

	o.Metrics.ApplySlots(name, o.MaxApplies)

	c := &connector{
		Options:  o,
		kube:     mgr.GetClient(),
		live:     mgr.GetAPIReader(),
		policy:   policy,
		records:  records,
		slots:    slots,
		recorder: recorder,
		log:      log,
		now:      time.Now,
		name:     name,
		server:   mgr.GetConfig().Host,
	}

	if err := mgr.Add(recordStates(mgr.GetClient(), mgr.GetCache(), kind, o.Options, o.Metrics)); err != nil {
		return errors.Wrapf(err, "cannot add state metrics of %s", kind.GroupKind())
	}

	if err := setupProtector(mgr, kind); err != nil {
		return errors.Wrapf(err, "cannot set up the controller of finalizers of %s", kind.GroupKind())
	}

	r := managed.NewReconciler(clientManager{Manager: mgr, client: managedClient{mgr.GetClient(), mgr.GetCache(), c}}, resource.ManagedKind(kind.GroupVersionKind), reconcilerOptions(c)...)

	co := o.ForControllerRuntime()
	// At least one worker is free for polls, however long all applies take.
	co.MaxConcurrentReconciles = max(co.MaxConcurrentReconciles, o.MaxApplies+1)
	co.NewQueue = func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return schedule.NewQueue(name, limiter, records, slots)
	}

	return errors.Wrapf(builder.ControllerManagedBy(mgr).
		Named(name).
		WithOptions(co).
		Watches(kind.Object, schedule.NewEventHandler(records, slots, o.Left, o.ClaimChanged)).
		Complete(o.WithClaims(schedule.NewReconciler(r, policy, records, slots, o.Left, recorder, log), kind)), "cannot set up controller %s", name)
}

// reconcilerOptions returns the options of the managed reconciler, whose external clients c makes.
func reconcilerOptions(c *connector) []managed.ReconcilerOption {
	o := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector[workspace.Workspace](c),
		managed.WithLogger(c.log),
		managed.WithRecorder(causeRecorder{c.recorder}),
		managed.WithPollInterval(c.PollInterval),
		managed.WithMinPollInterval(schedule.MinInterval),
		managed.WithTimeout(c.Timeout),
		// The name of the Terraform workspace is known before its creation, and its state makes
		// creation repeatable.
		managed.WithDeterministicExternalName(true),
		managed.WithInitializers(managed.InitializerFn(c.initialize)),
		managed.WithFinalizer(resource.FinalizerFns{
			AddFinalizerFn:    c.addFinalizer,
			RemoveFinalizerFn: c.removeFinalizer,
		}),
		managed.WithCriticalAnnotationUpdater(managed.CriticalAnnotationUpdateFn(c.updateCriticalAnnotations)),
		// A plan reads the current state. A Workspace that was just created can be deleted without
		// a grace period, which would also depend on the clock of another machine.
		managed.WithCreationGracePeriod(math.MinInt64),
		managed.WithMetricRecorder(c.MetricOptions.MRMetrics),
	}

	if c.Features.Enabled(feature.EnableBetaManagementPolicies) {
		o = append(o, managed.WithManagementPolicies())
	}

	if c.Features.Enabled(feature.EnableAlphaChangeLogs) {
		o = append(o, managed.WithChangeLogger(c.ChangeLogOptions.ChangeLogger))
	}

	return o
}

func policyOf(o Options) schedule.Policy {
	return schedule.Policy{Interval: o.PollInterval, Jitter: o.PollJitter, ManagementPolicies: o.Features.Enabled(feature.EnableBetaManagementPolicies)}
}

// A clientManager is a manager with another client.
type clientManager struct {
	manager.Manager

	client client.Client
}

func (m clientManager) GetClient() client.Client { return m.client }
