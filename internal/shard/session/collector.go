// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// The Lease of a session that has ended stays for a while: a process that finds a claim of a session without a
// Lease has to wait for the longest duration. No instance knows which claims name it on the Workspaces of others, its own
// sessions included: its Workspaces may have moved since.
const (
	collectInterval = time.Minute
	collectAfter    = time.Hour

	// An instance that is away for less finds its last session, so that it does not wait for it, and the assigner finds the shard.
	collectElectionAfter = 7 * 24 * time.Hour
)

// Collector returns a task that deletes the Leases of sessions that have ended, except for those that
// claims name. The last one of an instance, with the Lease of its leader election, stays for collectElectionAfter. named
// returns the sessions that the claims on the Workspaces of this process name.
func (o *Observer) Collector(named func(context.Context) (map[client.ObjectKey]bool, error)) periodic.Task {
	return periodic.Task{
		Interval: collectInterval,
		AtOnce:   true,
		Do: func(ctx context.Context) error {
			leases := o.collectable()
			if len(leases) == 0 {
				return nil
			}

			keep, err := named(ctx)
			if err != nil {
				return err
			}

			for _, l := range leases {
				if !keep[client.ObjectKeyFromObject(l)] {
					err = errors.Join(err, o.collect(ctx, l))
				}
			}

			return err
		},
		Failed: func(err error) { o.log.Info("Cannot delete the Lease of a session that has ended", "error", err) },
	}
}

// collectable returns the Leases of sessions that ended long enough ago.
func (o *Observer) collectable() []*coordinationv1.Lease {
	o.mu.Lock()
	defer o.mu.Unlock()

	var leases []*coordinationv1.Lease

	for key, t := range o.sessions {
		if t.lease == nil || t.unlisted || key.Namespace != o.namespace || !hasEnded(t.lease) {
			continue
		}

		// That time is from another machine. If the clocks differ, another process waits, and nothing else happens.
		if ended := t.lease.Spec.RenewTime; ended == nil || o.now().Sub(ended.Time) > collectAfter {
			leases = append(leases, t.lease)
		}
	}

	return leases
}

func (o *Observer) collect(ctx context.Context, l *coordinationv1.Lease) error {
	if used, err := o.collectElection(ctx, l); used || err != nil {
		return err
	}

	_, err := o.remove(ctx, l)

	return err
}

// collectElection deletes the Lease of the leader election that names a session that has ended, and was not renewed for
// collectElectionAfter. It returns true if that Lease stays.
func (o *Observer) collectElection(ctx context.Context, l *coordinationv1.Lease) (used bool, err error) {
	id, ok := shard.FromInstance(l.GetLabels()[shard.InstanceLabelKey])
	if !ok {
		return false, nil
	}

	election, err := get(ctx, o.kube, client.ObjectKey{Namespace: o.namespace, Name: id.LeaseName()})
	if err != nil || election == nil || election.GetAnnotations()[shard.SessionAnnotationKey] != l.GetName() {
		return false, err
	}

	if renewed := election.Spec.RenewTime; renewed == nil || o.now().Sub(renewed.Time) <= collectElectionAfter {
		return true, nil
	}

	gone, err := o.remove(ctx, election)

	return !gone, err
}

// remove deletes a Lease if it is unchanged since it was read. It returns false if it is still there.
func (o *Observer) remove(ctx context.Context, l *coordinationv1.Lease) (bool, error) {
	err := client.IgnoreNotFound(o.kube.Delete(ctx, l, client.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}))
	if kerrors.IsConflict(err) {
		return false, nil
	}

	return err == nil, errors.Wrap(err, "cannot delete Lease")
}
