// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package assigner assigns Workspaces without a shard label to the shards that are running, and
// moves them when shards come and go.
//
// An Assigner works in the one instance that holds the Lease of the assigner. It writes labels and
// nothing else. Claims make a move safe, and an instance serves what its label says, no matter
// who wrote the label. [Place] chooses the shard of a Workspace, [Decide] says whether that changes
// anything, and [Members] says which shards there are. All three are pure.
//
// The Assigner watches the metadata of Workspaces without a label only. When the members change,
// it lists the assigned Workspaces once. Its memory does not depend on their number.
package assigner

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// LeaseName is the name of the Lease of the assigner.
const LeaseName = "crossplane-provider-terraform-assigner"

// The timing of the Lease is that of Kubernetes components. If two assigners work for a moment,
// each write of either fails that was decided before a write of the other.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// forgetAfter is how long the Lease of a shard without an instance stays. An instance that takes a
// Workspace over reads there that the previous owner is dead. Without the Lease it would have to
// wait for the duration of one.
const forgetAfter = time.Hour

// interval between two looks at the Leases of the shards, which are in memory.
const interval = time.Second

// forgetInterval is how often the Leases of shards that are gone are deleted.
const forgetInterval = 10 * time.Minute

// Leases lists the shards.
type Leases interface {
	// Shards returns the named shards that have a Lease, and whether an instance holds it. It
	// returns false if that is not known yet.
	Shards() (map[string]bool, bool)
}

// Metrics counts what the assigner does.
type Metrics interface {
	// Members sets the number of shards that Workspaces are assigned to.
	Members(n int)

	// Moved adds Workspaces that were assigned or moved.
	Moved(n int)
}

// An Assigner assigns Workspaces to shards while this instance holds its Lease.
type Assigner struct {
	// Config of the API server, for the Lease and the watch.
	Config *rest.Config

	// Namespace of the Lease, and Identity of this instance.
	Namespace, Identity string

	// Kinds of Workspaces.
	Kinds []schema.GroupVersionKind

	// Live reads from the API server, not from a cache, and Kube writes.
	Live client.Reader
	Kube client.Client

	Leases Leases

	// Grace is how long a shard without an instance stays a member.
	Grace time.Duration

	// Rate is the number of Workspaces that are assigned or moved per second.
	Rate int

	Metrics Metrics
	Log     logging.Logger

	limiter *rate.Limiter
}

// NeedLeaderElection returns false: it has an election of its own.
func (a *Assigner) NeedLeaderElection() bool { return false }

// Start takes part in the election until ctx is done, and assigns whenever this instance is
// elected.
func (a *Assigner) Start(ctx context.Context) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, a.Namespace, LeaseName, resourcelock.ResourceLockConfig{Identity: a.Identity}, a.Config, renewDeadline)
	if err != nil {
		return errors.Wrap(err, "cannot make Lease of the assigner")
	}

	a.limiter = rate.NewLimiter(rate.Limit(a.Rate), a.Rate)

	for ctx.Err() == nil {
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:            lock,
			LeaseDuration:   leaseDuration,
			RenewDeadline:   renewDeadline,
			RetryPeriod:     retryPeriod,
			ReleaseOnCancel: true,
			Name:            "assigner",
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					if err := a.work(ctx); err != nil && ctx.Err() == nil {
						a.Log.Info("Cannot assign Workspaces", "error", err)
					}
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return errors.Wrap(err, "cannot elect the assigner")
		}

		e.Run(ctx)
	}

	return nil
}

// work assigns Workspaces until ctx is done: this instance stops, or another one is elected.
func (a *Assigner) work(ctx context.Context) error {
	a.Log.Info("Assigning Workspaces to shards")

	defer a.Log.Info("Another instance may assign Workspaces now")
	defer a.Metrics.Members(0)

	m, known := &membership{}, NewMembers(a.Grace)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.watch(ctx, m) })
	g.Go(func() error {
		return periodic.Task{
			Interval: interval,
			AtOnce:   true,
			Do:       func(ctx context.Context) error { return a.follow(ctx, m, known) },
			Failed:   func(err error) { a.Log.Info("Cannot rebalance, trying again", "error", err) },
		}.Start(ctx)
	})

	return g.Wait()
}

// follow moves Workspaces if the members have changed since all were in their place.
func (a *Assigner) follow(ctx context.Context, m *membership, known *Members) error {
	shards, ok := a.Leases.Shards()
	if !ok {
		return nil
	}

	members, gone := known.Update(shards, time.Now())
	before := m.get()

	if !m.set(members) {
		return a.forget(ctx, m, gone)
	}

	if !slices.Equal(before, members) {
		a.Log.Info("Assigning Workspaces to other shards", "before", before, "shards", members)
	}

	a.Metrics.Members(len(members))

	complete, err := a.rebalance(ctx, members)
	if err != nil {
		return err
	}

	if complete {
		m.settle(members)
	}

	return nil
}

// forget deletes the Leases of shards that have been away for long, if it did not do so lately.
func (a *Assigner) forget(ctx context.Context, m *membership, gone map[string]time.Duration) error {
	if time.Since(m.forgot) < forgetInterval {
		return nil
	}

	m.forgot = time.Now()

	for name, away := range gone {
		id, err := shard.Parse(name)
		if err != nil || away < forgetAfter {
			continue
		}

		l := &coordinationv1.Lease{}
		if err := a.Live.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: id.LeaseName()}, l); err != nil {
			if kerrors.IsNotFound(err) {
				continue
			}

			return errors.Wrapf(err, "cannot get Lease of shard %q", name)
		}

		// An instance that takes the Lease now changes its version.
		err = a.Kube.Delete(ctx, l, client.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion})
		if err != nil && !kerrors.IsNotFound(err) && !kerrors.IsConflict(err) {
			return errors.Wrapf(err, "cannot delete Lease of shard %q", name)
		}

		a.Log.Info("Deleted the Lease of a shard without an instance", "shard", name, "away", away)
	}

	return nil
}
