// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/drain"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/fence"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/unserved"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// reconcileMargin is longer than the time that a reconcile takes beyond --timeout: the
// managed reconciler adds half a minute, and an interrupted run takes its grace period.
const reconcileMargin = 2 * time.Minute

// identify gives this instance a name and decides whether it holds a Lease.
func identify(ctx context.Context, cfg *rest.Config, o *Options, log logging.Logger) (string, error) {
	if err := completeLease(ctx, cfg, o, log); err != nil {
		return "", err
	}

	return lease.NewIdentity()
}

// completeLease gives up the Lease of an instance without --leader-election that is not
// allowed to have one.
func completeLease(ctx context.Context, cfg *rest.Config, o *Options, log logging.Logger) error {
	if !o.HoldsLease || o.LeaderElection != nil || o.Shard.Sharded() {
		return nil
	}

	allowed, err := mayHoldLease(ctx, cfg, o.LeaseNamespace)
	if err != nil {
		return err
	}

	if !allowed {
		log.Info("Starting without a Lease, because Leases may not be written: make sure that no other instance runs at the same time", "namespace", o.LeaseNamespace)
	}

	o.HoldsLease = allowed

	return nil
}

// mayHoldLease says whether this instance has the right to create and update Leases
// in the supplied namespace.
func mayHoldLease(ctx context.Context, cfg *rest.Config, namespace string) (bool, error) {
	kube, err := client.New(cfg, client.Options{})
	if err != nil {
		return false, errors.Wrap(err, "cannot make client")
	}

	for _, verb := range []string{"get", "create", "update"} {
		allowed, err := may(ctx, kube, authorizationv1.ResourceAttributes{Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace})
		if err != nil || !allowed {
			return false, errors.Wrap(err, "cannot find out whether Leases may be written")
		}
	}

	return true, nil
}

// may says whether this instance has a right.
func may(ctx context.Context, kube client.Client, a authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
	err := kube.Create(ctx, review)

	return review.Status.Allowed, err
}

// newLock returns the Lease of an instance that holds one, and nil otherwise. Applying says
// whether an apply or a destroy is in progress. Lost is called when the Lease is lost.
func newLock(cfg *rest.Config, o *Options, identity string, log logging.Logger, applying func() bool, d *drain.Drain, lost func(error)) (*lease.Lock, error) {
	if !o.HoldsLease {
		return nil, nil //nolint:nilnil // Most callers can do without.
	}

	if err := checkInit(os.Getpid(), o, log); err != nil {
		return nil, err
	}

	f, err := fence.New()
	if err != nil {
		return nil, errors.Wrap(err, "cannot make fence")
	}

	lo := []lease.LockOption{lease.WithApplying(applying), lease.WithLockLogger(log)}
	if o.pauses() {
		lo = append(lo, lease.WithPause(d.Pause, d.Resume))
	}

	return lease.NewLock(cfg, o.LeaseNamespace, o.Shard.LeaseName(), identity, o.Lease, f, lost, lo...)
}

// checkInit refuses to hold a Lease as the init process of a container, which the kernel
// does not let the fence kill. An instance without the flag starts anyway: it did before
// there were Leases.
func checkInit(pid int, o *Options, log logging.Logger) error {
	const remedy = "an instance that cannot renew its Lease could not be killed before another one takes over. Put a minimal init in front of it, as the image of this project does with tini, or set shareProcessNamespace: true in the Pod"

	switch {
	case pid != 1:
		return nil
	case o.Shard.Sharded() || ptr.Deref(o.LeaderElection, false):
		return errors.Errorf("this process has the ID 1, the init process of its container: %s", remedy)
	default:
		log.Info("WARNING: this process has the ID 1, the init process of its container", "consequence", remedy)

		return nil
	}
}

// An ownership knows which Workspaces this instance may work on.
type ownership struct {
	mgr    manager.Manager
	claims *claim.Claims
	leases *lease.Observer
	lock   *lease.Lock
	shard  shard.ID

	// identity of this instance in its claims.
	identity string
}

// newOwnership adds the parts that claims need to the manager. The lock is nil for an
// instance without a Lease.
func newOwnership(mgr manager.Manager, cfg *rest.Config, o *Options, identity string, lock *lease.Lock, log logging.Logger, m unserved.Metrics, co ...claim.Option) (*ownership, error) {
	own := &ownership{mgr: mgr, lock: lock, shard: o.Shard, identity: identity}

	if o.DisableClaims {
		log.Info("Running without claims: several instances may work on one Workspace")

		return own, nil
	}

	// There are four requests about claims for every Workspace when an instance starts,
	// and any limit per second would spread them over minutes. Each worker has one at a
	// time.
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1

	kube, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, errors.Wrap(err, "cannot make client of claims")
	}

	leases := lease.NewObserver(kube, o.LeaseNamespace, o.Lease, lease.WithLogger(log))
	// Outside of a cluster it may not be known where Leases are.
	if o.LeaseNamespace != "" {
		if err := mgr.Add(leases); err != nil {
			return nil, errors.Wrap(err, "cannot add observer of Leases")
		}
	}

	recorder := event.NewAPIRecorder(mgr.GetEventRecorderFor("claims")) //nolint:staticcheck // Providers are not granted events of events.k8s.io.

	if o.HoldsLease {
		// A Workspace is reported after two consecutive scans, so that people are told
		// within the duration of a Lease that no instance serves a label. A killed
		// instance counts as serving until its Lease has expired.
		w := &unserved.Watcher{
			ID:       o.Shard,
			Leases:   leases,
			Live:     mgr.GetAPIReader(),
			Kinds:    workspace.GroupVersionKinds(),
			Interval: o.Lease.Duration / 3,
			Metrics:  m,
			Record:   recorder,
			Log:      log,
		}
		if err := mgr.Add(w); err != nil {
			return nil, errors.Wrap(err, "cannot add watcher of Workspaces that nobody serves")
		}
	}

	co = append(co,
		claim.WithLogger(log),
		claim.WithRetryPeriod(o.Lease.RetryPeriod),
		claim.WithLongestRun(o.Timeout+reconcileMargin),
		claim.WithRecorder(recorder))
	own.leases = leases
	own.claims = claim.New(o.Shard, identity, leases, mgr.GetClient(), kube, co...)

	return own, errors.Wrap(mgr.Add(own.claims), "cannot add claims")
}

// wrap decorates the reconciler of a kind of Workspace so that it gets only Workspaces
// that this instance may work on.
func (own *ownership) wrap(ctx context.Context, r reconcile.Reconciler, kind workspace.Kind) (reconcile.Reconciler, error) {
	if own.claims == nil {
		return r, nil
	}

	owned := own.claims.Reconciler(r, kind.GroupVersionKind, kind.Object)

	i, err := own.mgr.GetCache().GetInformer(ctx, kind.Object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch which Workspaces leave")
	}

	_, err = i.AddEventHandler(owned.Handler())

	return owned, errors.Wrap(err, "cannot watch which Workspaces leave")
}

// predecessors of this instance that worked on a Workspace and are no more. Those of a
// shard are written on the Workspace; an unsharded instance, which writes nothing there,
// is written on its Lease.
func (own *ownership) predecessors(o client.Object) statelock.Predecessors {
	p := statelock.Predecessors{}
	if own.claims != nil {
		p.Hosts, p.Until = own.claims.Abandoned(o)
	}

	if own.lock == nil || (own.claims != nil && own.shard.Sharded()) {
		return p
	}

	hosts, since := own.lock.Predecessors()

	return statelock.Predecessors{Hosts: append(p.Hosts, hosts...), Until: since}
}

// previousOwnerWasOther says whether another instance served a Workspace before this one.
// An earlier incarnation of this instance does not count.
func (own *ownership) previousOwnerWasOther(o client.Object) bool {
	return own.claims != nil && own.claims.PreviousOwnerWasOther(o)
}

// isServed says whether another instance, on the supplied host, has claimed a Workspace and may
// be alive.
func (own *ownership) isServed(ctx context.Context, o client.Object, host string) bool {
	ws, ok := o.(workspace.Workspace)
	if !ok || own.claims == nil {
		return false
	}

	c := ws.GetOwnership().Claim
	if c == nil || c.Holder == own.identity || lease.HostOf(c.Holder) != host {
		return false
	}

	return own.leases.State(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}, c.Holder) != lease.Dead
}
