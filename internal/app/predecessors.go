// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// predecessors returns the dead predecessors of this instance that worked on a Workspace. Those
// of a shard are recorded on the Workspace. An unsharded instance records nothing there, but its
// host is on its Lease.
func (i *instance) predecessors(o client.Object) statelock.Predecessors {
	p := statelock.Predecessors{}

	p.Hosts, p.Until = i.claims.Abandoned(o)
	if i.lock == nil || i.o.Shard.Sharded() {
		return p
	}

	hosts, since := i.lock.Predecessors()

	return statelock.Predecessors{Hosts: append(slices.Clone(hosts), p.Hosts...), Until: since}
}

// served returns when the previous holder of the Lease of this instance last renewed it. It is zero
// if there was none.
func (i *instance) served() time.Time {
	if i.lock == nil {
		return time.Time{}
	}

	return i.lock.Served()
}

// servedByOtherBefore says whether another instance served a Workspace before this one.
// An earlier incarnation of this instance does not count.
func (i *instance) servedByOtherBefore(o client.Object) bool {
	return i.claims.ServedByOtherBefore(o)
}

// isServed says whether another instance, on the supplied host, has claimed a Workspace and may
// be alive.
func (i *instance) isServed(ctx context.Context, o client.Object, host string) bool {
	ws, ok := o.(workspace.Workspace)
	if !ok {
		return false
	}

	c := ws.GetOwnership().Claim
	if c == nil || c.Holder == i.identity || lease.HostOf(c.Holder) != host {
		return false
	}

	return i.leases.State(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Lease}, c.Holder) != lease.Dead
}
