// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/assigner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/unserved"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// makeClaims makes the claims of this process. One without a session claims nothing, but works on no
// Workspace that a live instance has claimed.
func (i *instance) makeClaims() {
	me, mayRun := claim.Claim{}, func() error { return nil }
	if s := i.session.Load(); s != nil {
		me, mayRun = s.Claim(), s.MayRun
	}

	i.claims = claim.New(i.o.Shard, me, i.sessions, i.mgr.GetCache(), i.unlimited, claim.Options{
		FailedRuns:  i.failedRuns,
		Recorder:    i.claimsRecorder(),
		Metrics:     i.metrics,
		MayRun:      mayRun,
		RetryPeriod: i.o.Lease.RetryPeriod,
		LongestRun:  i.o.Timeout + reconcileMargin,
	})
}

// shardRunnables returns the runnables that need sessions or claims.
func (i *instance) shardRunnables() []manager.Runnable {
	o := i.o
	runnables := []manager.Runnable{i.claims}

	if i.session.Load() != nil {
		runnables = append(runnables, i.sessions.Collector(i.claimed), &unserved.Watcher{
			ID:       o.Shard,
			Leases:   i.sessions,
			Live:     i.mgr.GetAPIReader(),
			Statuses: i.unlimited.Status(),
			MayLive:  i.mayLive,
			Kinds:    workspace.GroupVersionKinds(),
			// A Workspace is reported after two consecutive scans, so that people are told within the
			// duration of a session that no instance serves a label. A killed instance counts as serving
			// until its session has expired.
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
			Leases:    i.sessions,
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

// claimed returns the sessions that the claims on the Workspaces in the cache name.
func (i *instance) claimed(ctx context.Context) (map[client.ObjectKey]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, claimedTimeout)
	defer cancel()

	named := map[client.ObjectKey]bool{}

	for _, k := range workspace.Kinds() {
		// To ask the cache for a kind without a CRD makes an informer that is never synced, and with it the whole cache.
		if !i.setups.has(k.GroupVersionKind) {
			if err := i.unclaimed(ctx, k); err != nil {
				return nil, err
			}

			continue
		}

		list, _ := k.List.DeepCopyObject().(resource.ManagedList) // It is one.

		if err := i.mgr.GetCache().List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, errors.Wrap(err, "cannot list claims")
		}

		for _, o := range list.GetItems() {
			if ws, ok := o.(claim.Object); ok {
				c := claim.Of(ws)
				named[client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}] = true
			}
		}
	}

	return named, nil
}

// unclaimed returns an error if there are Workspaces of a kind whose controller is not set up. They may name any session.
func (i *instance) unclaimed(ctx context.Context, k workspace.Kind) error {
	_, err := listing.Each(ctx, i.mgr.GetAPIReader(), k.GroupVersionKind, func(*metav1.PartialObjectMetadata) error {
		return errors.Errorf("there is no controller of %s yet", k.GroupKind())
	})

	return errors.Wrap(err, "cannot list claims")
}

// claimedTimeout limits the wait for a cache that is not synced.
const claimedTimeout = 5 * time.Second

// predecessors returns the dead predecessors of this process that worked on a Workspace.
func (i *instance) predecessors(o client.Object) statelock.Predecessors {
	hosts, until := i.claims.Abandoned(o)

	// An earlier version of the provider claimed nothing. Only the Lease of the leader election names it.
	if i.election != nil && !i.o.Shard.Sharded() {
		if host := session.HostOf(i.election.Former()); host != "" {
			hosts = append(hosts, host)
		}
	}

	return statelock.Predecessors{Hosts: hosts, Until: until}
}

// isServed says whether another process, on the supplied host, has claimed a Workspace and may be alive.
func (i *instance) isServed(ctx context.Context, o client.Object, host string) bool {
	ws, ok := o.(claim.Object)
	if !ok {
		return false
	}

	c := claim.Of(ws)
	if s := i.session.Load(); s != nil && c.Same(s.Claim()) {
		return false
	}

	return c.Holder != "" && session.HostOf(c.Holder) == host && i.mayLive(ctx, c)
}

// mayLive says whether the instance that has a claim may be alive.
func (i *instance) mayLive(ctx context.Context, c commonv1beta1.Claim) bool {
	return i.sessions.State(ctx, c) != session.Dead
}
