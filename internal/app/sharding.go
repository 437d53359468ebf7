// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/unserved"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// reconcileMargin is longer than the time that a reconcile takes beyond --timeout: the managed
// reconciler adds half a minute, and an interrupted run takes its grace period.
const reconcileMargin = 2 * time.Minute

// The sharding of an instance decides which Workspaces it may work on.
type sharding struct {
	mgr    manager.Manager
	claims *claim.Claims
	leases *lease.Observer
	lock   *lease.Lock
	shard  shard.ID

	// identity of this instance in its claims.
	identity string
}

// addSharding adds the parts that claims need to the manager.
func (i *instance) addSharding(context.Context) error {
	o, mgr, identity := i.o, i.mgr, i.identity
	s := &sharding{mgr: mgr, lock: i.lock, shard: o.Shard, identity: identity}
	i.sharding, i.failedRuns = s, statelock.NewFailedRuns()

	if o.DisableClaims {
		i.log.Info("Running without claims: several instances may work on one Workspace")

		return nil
	}

	// At the start of an instance there are four requests about claims for every Workspace. A
	// limit per second would spread them over minutes. Each worker has only one request at a time.
	cfg := rest.CopyConfig(i.config)
	cfg.QPS = -1

	kube, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return errors.Wrap(err, "cannot make client of claims")
	}

	leases := lease.NewObserver(kube, o.LeaseNamespace, o.Lease, lease.WithLogger(i.log))
	// Outside of a cluster, the namespace of Leases may be unknown.
	if o.LeaseNamespace != "" {
		if err := mgr.Add(leases); err != nil {
			return errors.Wrap(err, "cannot add observer of Leases")
		}
	}

	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor("claims")) //nolint:staticcheck // Providers are not granted events of events.k8s.io.

	if o.HoldsLease {
		// A Workspace is reported after two consecutive scans, so that people are told within the
		// duration of a Lease that no instance serves a label. A killed instance counts as serving
		// until its Lease has expired.
		w := &unserved.Watcher{
			ID:       o.Shard,
			Leases:   leases,
			Live:     mgr.GetAPIReader(),
			Kinds:    workspace.GroupVersionKinds(),
			Interval: o.Lease.Duration / 3,
			Metrics:  i.metrics,
			Recorder: recorder,
			Log:      i.log,
		}
		if err := mgr.Add(w); err != nil {
			return errors.Wrap(err, "cannot add watcher of unserved Workspaces")
		}
	}

	co := []claim.Option{
		claim.WithLocks(i.failedRuns),
		claim.WithLogger(i.log),
		claim.WithMetrics(i.metrics),
		claim.WithRetryPeriod(o.Lease.RetryPeriod),
		claim.WithLongestRun(o.Timeout + reconcileMargin),
		claim.WithRecorder(recorder),
	}
	s.leases = leases
	s.claims = claim.New(o.Shard, identity, leases, mgr.GetCache(), kube, co...)

	return errors.Wrap(mgr.Add(s.claims), "cannot add claims")
}

// A scheduler is the reconciler of a kind of Workspace: a schedule.Reconciler.
type scheduler interface {
	reconcile.ObjectReconciler[client.Object]

	Waits(o client.Object) (time.Duration, bool)
}

// wrap decorates the reconciler of a kind of Workspace so that it gets only Workspaces that this
// instance may work on.
func (s *sharding) wrap(ctx context.Context, r scheduler, kind workspace.Kind) (reconcile.Reconciler, error) {
	if s.claims == nil {
		return readFrom(s.mgr.GetCache(), r, kind), nil
	}

	owned, err := s.own(ctx, r, kind)
	if err != nil || s.shard.Sharded() {
		return owned, err
	}

	// The claims of an unsharded instance read each Workspace from the API server. Most need
	// nothing when it starts, and many have to wait when a lot are created. One that another
	// instance has claimed must not wait for a slot: when it got one, it would not use it.
	return readFrom(s.mgr.GetCache(), reconcile.TypedFunc[client.Object](func(ctx context.Context, o client.Object) (reconcile.Result, error) {
		if ws, ok := o.(workspace.Workspace); ok && ws.GetOwnership().Claim == nil {
			if after, waits := r.Waits(o); waits {
				return reconcile.Result{RequeueAfter: after}, nil
			}
		}

		return owned.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}), kind), nil
}

// own returns a reconciler that passes on the Workspaces that the claims of this instance allow.
func (s *sharding) own(ctx context.Context, scheduled scheduler, kind workspace.Kind) (reconcile.Reconciler, error) {
	r := reconcile.ObjectReconciler[client.Object](scheduled)

	// The managed reconciler need not read the Workspace again.
	if !s.shard.Sharded() {
		r = reconcile.TypedFunc[client.Object](func(ctx context.Context, o client.Object) (reconcile.Result, error) {
			return scheduled.Reconcile(statusclient.WithLatest(ctx, o), o)
		})
	}

	owned := s.claims.Reconciler(r, kind.GroupVersionKind, kind.Object)

	i, err := s.mgr.GetCache().GetInformer(ctx, kind.Object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch which Workspaces leave")
	}

	_, err = i.AddEventHandler(owned.Handler())

	return owned, errors.Wrap(err, "cannot watch which Workspaces leave")
}

// readFrom returns a reconciler that reads each Workspace and passes it on.
func readFrom(cache client.Reader, r reconcile.ObjectReconciler[client.Object], kind workspace.Kind) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		o, ok := kind.Object.DeepCopyObject().(client.Object)
		if !ok {
			return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is no object", kind.Object))
		}

		if err := cache.Get(ctx, req.NamespacedName, o); err != nil {
			return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Workspace")
		}

		return r.Reconcile(ctx, o)
	})
}

// predecessors returns the dead predecessors of this instance that worked on a Workspace. Those
// of a shard are recorded on the Workspace. An unsharded instance records nothing there, but its
// host is on its Lease.
func (s *sharding) predecessors(o client.Object) statelock.Predecessors {
	p := statelock.Predecessors{}
	if s.claims != nil {
		p.Hosts, p.Until = s.claims.Abandoned(o)
	}

	if s.lock == nil || (s.claims != nil && s.shard.Sharded()) {
		return p
	}

	hosts, since := s.lock.Predecessors()

	return statelock.Predecessors{Hosts: append(p.Hosts, hosts...), Until: since}
}

// served returns when the previous holder of the Lease of this instance last renewed it. It is zero
// if there was none.
func (s *sharding) served() time.Time {
	if s.lock == nil {
		return time.Time{}
	}

	return s.lock.Served()
}

// servedByOtherBefore says whether another instance served a Workspace before this one.
// An earlier incarnation of this instance does not count.
func (s *sharding) servedByOtherBefore(o client.Object) bool {
	return s.claims != nil && s.claims.ServedByOtherBefore(o)
}

// isServed says whether another instance, on the supplied host, has claimed a Workspace and may
// be alive.
func (s *sharding) isServed(ctx context.Context, o client.Object, host string) bool {
	ws, ok := o.(workspace.Workspace)
	if !ok || s.claims == nil {
		return false
	}

	c := ws.GetOwnership().Claim
	if c == nil || c.Holder == s.identity || lease.HostOf(c.Holder) != host {
		return false
	}

	return s.leases.State(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}, c.Holder) != lease.Dead
}
