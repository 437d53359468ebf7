// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/unserved"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// reconcileMargin is longer than the time that a reconcile takes beyond --timeout: the managed
// reconciler adds half a minute, and an interrupted run takes its grace period. Then there is a minute
// to save its state, and the grace period of the last attempt.
const reconcileMargin = 2 * time.Minute

// addClaims adds the claims of this instance to the manager, and the observer of the Leases of
// other instances, on which they depend. An unsharded instance needs both, too: it works on no
// Workspace that a live instance has claimed.
func (i *instance) addClaims(context.Context) error {
	o, mgr := i.o, i.mgr

	// At the start of an instance there are four requests about claims for every Workspace. A
	// limit per second would spread them over minutes. Each worker has only one request at a time.
	cfg := rest.CopyConfig(i.config)
	cfg.QPS = -1

	kube, err := client.New(cfg, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return errors.Wrap(err, "cannot make client of claims")
	}

	i.leases = lease.NewObserver(kube, o.LeaseNamespace, o.Lease, i.log)
	// Outside of a cluster, the namespace of Leases may be unknown.
	if o.LeaseNamespace != "" {
		if err := mgr.Add(i.leases); err != nil {
			return errors.Wrap(err, "cannot add observer of Leases")
		}
	}

	i.claims = claim.New(o.Shard, i.identity, i.leases, mgr.GetCache(), kube, claim.Options{
		Locks:       i.failedRuns,
		Recorder:    i.claimsRecorder(),
		Metrics:     i.metrics,
		Log:         i.log,
		RetryPeriod: o.Lease.RetryPeriod,
		LongestRun:  o.Timeout + reconcileMargin,
	})

	return errors.Wrap(mgr.Add(i.claims), "cannot add claims")
}

// addUnservedWatcher adds the watcher of Workspaces that no instance serves to the manager, if this
// instance holds a Lease.
func (i *instance) addUnservedWatcher(context.Context) error {
	if !i.o.HoldsLease {
		return nil
	}

	// A Workspace is reported after two consecutive scans, so that people are told within the
	// duration of a Lease that no instance serves a label. A killed instance counts as serving
	// until its Lease has expired.
	return errors.Wrap(i.mgr.Add(&unserved.Watcher{
		ID:       i.o.Shard,
		Leases:   i.leases,
		Live:     i.mgr.GetAPIReader(),
		Kinds:    workspace.GroupVersionKinds(),
		Interval: i.o.Lease.Duration / 3,
		Metrics:  i.metrics,
		Recorder: i.claimsRecorder(),
		Log:      i.log,
	}), "cannot add watcher of unserved Workspaces")
}

func (i *instance) claimsRecorder() event.Recorder {
	return event.NewAPIRecorder(i.mgr.GetEventRecorderFor("claims")) //nolint:staticcheck // Providers are not granted events of events.k8s.io.
}
