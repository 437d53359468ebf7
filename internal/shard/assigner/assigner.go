// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package assigner assigns Workspaces without a shard label to the running shards, and moves them
// when shards join or leave.
//
// An Assigner works in the one instance that holds the Lease of the assigner. It writes labels and
// nothing else. Claims make a move safe. An instance serves the Workspaces with its label,
// regardless of the author of the label. A placement chooses the shard of a Workspace, and a roster
// knows the running shards. Neither does I/O.
//
// The Assigner watches the metadata of Workspaces without a label only. When the members change, it
// lists the assigned Workspaces in pages, and keeps their numbers.
package assigner

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// LeaseName is the name of the Lease of the assigner.
const LeaseName = "crossplane-provider-terraform-assigner"

// The timing of the Lease is that of Kubernetes components. If two assigners work for a moment,
// a write of either fails if it was decided before a write of the other. What the earlier one still
// writes after the first list of the later one is found by the next list.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// interval between two updates of the roster. The sessions of the shards are in memory.
const interval = time.Second

// retryInterval is how soon a watch of Workspaces that has failed is started again, and how soon a
// Workspace without a label is checked again.
const retryInterval = 10 * time.Second

// longestRetry limits the time between two attempts to rebalance, or to assign one Workspace.
const longestRetry = time.Minute

// resync is how often the assigned Workspaces are listed although the members have not changed: a
// restored or copied manifest may have brought labels of other members.
const resync = 10 * time.Minute

// Leases is a session.Observer.
type Leases interface {
	Shards() (map[string]session.Presence, bool)
}

// Metrics counts what the assigner does.
type Metrics interface {
	// Members sets the number of shards that Workspaces are assigned to.
	Members(n int)

	// Moved counts a Workspace that was assigned or moved.
	Moved()
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

// Start takes part in the election until ctx is done, and assigns whenever this instance is
// elected.
func (a *Assigner) Start(ctx context.Context) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, a.Namespace, LeaseName, resourcelock.ResourceLockConfig{Identity: a.Identity}, a.Config, renewDeadline)
	if err != nil {
		return errors.Wrap(err, "cannot make Lease of the assigner")
	}

	a.limiter = rate.NewLimiter(rate.Limit(a.Rate), a.Rate)

	// work of the last term may not have ended when the next one begins.
	term := sync.Mutex{}

	apiwait.UntilWithContext(ctx, func(ctx context.Context) {
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock:            lock,
			LeaseDuration:   leaseDuration,
			RenewDeadline:   renewDeadline,
			RetryPeriod:     retryPeriod,
			ReleaseOnCancel: true,
			Name:            "assigner",
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					term.Lock()
					defer term.Unlock()

					a.work(ctx)
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			a.Log.Info("Cannot elect the assigner", "error", err)

			return
		}

		e.Run(ctx)
	}, retryPeriod)

	return nil
}

// work assigns Workspaces until ctx is done: this instance stops, or another one is elected.
func (a *Assigner) work(ctx context.Context) {
	a.Log.Info("Assigning Workspaces to shards")

	defer a.Log.Info("Another instance may assign Workspaces now")
	defer a.Metrics.Members(0)

	m := newMembership()

	var wg sync.WaitGroup

	wg.Go(func() { a.follow(ctx, m) })
	wg.Go(func() { a.balance(ctx, m) })

	for _, kind := range a.Kinds {
		wg.Go(func() {
			select {
			case <-m.listed:
			case <-ctx.Done():
			}

			apiwait.UntilWithContext(ctx, func(ctx context.Context) {
				if err := a.watch(ctx, kind, m); err != nil && ctx.Err() == nil {
					a.Log.Info("Cannot watch Workspaces without a label, trying again", "kind", kind, "error", err)
				}
			}, retryInterval)
		})
	}

	wg.Wait()
}

// follow updates the members until ctx is done.
func (a *Assigner) follow(ctx context.Context, m *membership) {
	roster := newRoster(a.Grace)

	task := periodic.Task{
		Interval: interval,
		AtOnce:   true,
		Do: func(context.Context) error {
			shards, ok := a.Leases.Shards()
			if !ok {
				return nil
			}

			members := roster.Update(shards, time.Now())
			if m.set(members) {
				a.Log.Info("Assigning Workspaces to other shards", "shards", members.Here, "away", members.Away)
			}

			a.Metrics.Members(len(members.Here))

			return nil
		},
	}

	_ = task.Start(ctx) // It returns no error.
}

// balance moves Workspaces when the members have changed, until ctx is done.
func (a *Assigner) balance(ctx context.Context, m *membership) {
	backoff := apiwait.Backoff{Duration: interval, Factor: 2, Cap: longestRetry, Steps: 10}
	again := backoff

	// All assigned Workspaces were last in their place at the time balanced, for that version of the members.
	balanced, balancedVersion := time.Time{}, 0

	listed := sync.OnceFunc(func() { close(m.listed) })

	for ctx.Err() == nil {
		next := interval

		if _, version := m.get(); version != balancedVersion || time.Since(balanced) >= resync {
			complete, err := a.rebalance(ctx, m, version != balancedVersion)

			listed()

			switch {
			case ctx.Err() != nil:
			case err != nil:
				next = again.Step()
				a.Log.Info("Cannot rebalance, trying again", "error", err, "after", next)
			case complete:
				balanced, balancedVersion, again = time.Now(), version, backoff
			}
		}

		select {
		case <-ctx.Done():
		case <-time.After(next):
		}
	}
}
