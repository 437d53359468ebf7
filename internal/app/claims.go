// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/assigner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/unserved"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// makeClaims makes the claims of this instance, and the observer of the Leases of other instances, on
// which they depend. An unsharded instance needs both, too: it works on no Workspace that a live
// instance has claimed.
func (i *instance) makeClaims(context.Context) error {
	o := i.o

	i.leases = lease.NewObserver(i.unlimited, o.LeaseNamespace, o.Lease, i.log)
	i.claims = claim.New(o.Shard, i.identity, i.leases, i.mgr.GetCache(), i.unlimited, claim.Options{
		Locks:       i.failedRuns,
		Recorder:    i.claimsRecorder(),
		Metrics:     i.metrics,
		RetryPeriod: o.Lease.RetryPeriod,
		LongestRun:  o.Timeout + reconcileMargin,
	})

	return nil
}

// claimRunnables returns the runnables that need Leases or claims.
func (i *instance) claimRunnables() []manager.Runnable {
	o := i.o
	runnables := []manager.Runnable{i.claims}

	// Outside of a cluster, the namespace of Leases may be unknown.
	if o.LeaseNamespace != "" {
		runnables = append(runnables, i.leases)
	}

	if i.lock != nil {
		runnables = append(runnables, &unserved.Watcher{
			ID:       o.Shard,
			Leases:   i.leases,
			Live:     i.mgr.GetAPIReader(),
			Statuses: i.unlimited.Status(),
			MayLive:  i.mayLive,
			Kinds:    workspace.GroupVersionKinds(),
			// A Workspace is reported after two consecutive scans, so that people are told within the
			// duration of a Lease that no instance serves a label. A killed instance counts as serving
			// until its Lease has expired.
			Interval: o.Lease.Duration / 3,
			Metrics:  i.metrics,
			Recorder: i.claimsRecorder(),
			Log:      i.log,
		})
	}

	if o.AssignShards {
		runnables = append(runnables, &assigner.Assigner{
			Config:    i.config,
			Namespace: o.LeaseNamespace,
			Identity:  i.identity,
			Kinds:     workspace.GroupVersionKinds(),
			Live:      i.mgr.GetAPIReader(),
			Kube:      i.unlimited,
			Leases:    i.leases,
			Grace:     o.ShardGracePeriod,
			Rate:      o.AssignRate,
			Metrics:   i.metrics,
			Log:       i.log.WithValues("component", "assigner"),
		})
	}

	return runnables
}

func (i *instance) claimsRecorder() event.Recorder {
	return event.NewAPIRecorder(i.mgr.GetEventRecorderFor("claims")) //nolint:staticcheck // Providers are not granted events of events.k8s.io.
}

// A scheduler is the reconciler of a kind of Workspace: a schedule.Reconciler.
type scheduler interface {
	reconcile.ObjectReconciler[client.Object]

	Waits(ws workspace.Workspace) (time.Duration, bool)
}

// withClaims returns a reconciler that reads each Workspace of a kind, and passes it to r if this
// instance may work on it.
func (i *instance) withClaims(r scheduler, kind workspace.Kind) reconcile.Reconciler {
	if i.o.Shard.Sharded() {
		return i.claims.Reconciler(r, kind.GroupVersionKind, kind.Object)
	}

	// The claims of an unsharded instance read each Workspace from the API server. The managed
	// reconciler need not read it again.
	claimed := i.claims.Reconciler(reconcile.TypedFunc[client.Object](func(ctx context.Context, o client.Object) (reconcile.Result, error) {
		return r.Reconcile(statusclient.WithLatest(ctx, o), o)
	}), kind.GroupVersionKind, kind.Object)

	// Most Workspaces need nothing when the instance starts, and many have to wait when a lot are
	// created: the cache is enough to know that. A Workspace with a claim gets no ticket for an apply slot,
	// which it could not use. If it already waits for the holder, the cache is enough, too.
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		o, ok := kind.Object.DeepCopyObject().(workspace.Workspace)
		if !ok {
			return reconcile.Result{}, reconcile.TerminalError(errors.Errorf("%T is not a Workspace", kind.Object))
		}

		if err := i.mgr.GetCache().Get(ctx, req.NamespacedName, o); err != nil {
			if client.IgnoreNotFound(err) == nil {
				// It may have begun to wait while it left the cache.
				o.SetNamespace(req.Namespace)
				o.SetName(req.Name)
				i.claims.Left(o)
			}

			return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Workspace")
		}

		if o.GetOwnership().Claim == nil {
			if after, waits := r.Waits(o); waits {
				i.claims.Released(o)

				return reconcile.Result{RequeueAfter: after}, nil
			}
		} else if after, waits := claimed.StillWaits(ctx, o); waits {
			return reconcile.Result{RequeueAfter: after}, nil
		}

		return claimed.Reconcile(ctx, req)
	})
}

// predecessors returns the dead predecessors of this instance that worked on a Workspace. Those
// of a shard are recorded on the Workspace, those of an unsharded instance on its Lease.
func (i *instance) predecessors(o client.Object) statelock.Predecessors {
	hosts, until := i.claims.Abandoned(o)

	if i.lock != nil && !i.o.Shard.Sharded() {
		own, since := i.lock.Predecessors()
		hosts, until = slices.Concat(own, hosts), since
	}

	return statelock.Predecessors{Hosts: hosts, Until: until}
}

// served returns when the previous holder of the Lease of this instance last renewed it. It is zero
// if there was none.
func (i *instance) served() time.Time {
	if i.lock == nil {
		return time.Time{}
	}

	return i.lock.Served()
}

// isServed says whether another instance, on the supplied host, has claimed a Workspace and may be alive.
func (i *instance) isServed(ctx context.Context, o client.Object, host string) bool {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return false
	}

	c := ws.GetOwnership().Claim
	if c == nil || c.Holder == i.identity || lease.HostOf(c.Holder) != host {
		return false
	}

	return i.mayLive(ctx, *c)
}

// mayLive says whether the instance that has a claim may be alive.
func (i *instance) mayLive(ctx context.Context, c commonv1beta1.Claim) bool {
	return i.leases.State(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}, c.Holder) != lease.Dead
}
