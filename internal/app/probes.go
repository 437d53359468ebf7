// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// probeTimeout limits the duration of one probe. The default limit of Kubernetes is a second.
const probeTimeout = 900 * time.Millisecond

func (i *instance) addProbes() error {
	err := errors.Join(
		i.mgr.AddHealthzCheck("ping", healthz.Ping),
		i.mgr.AddReadyzCheck("caches", cachesSynced(i.mgr.GetCache(), i.cache.missing)),
	)

	if i.election != nil {
		key := types.NamespacedName{Namespace: i.o.LeaseNamespace, Name: i.o.Shard.LeaseName()}
		err = errors.Join(err, i.mgr.AddReadyzCheck("lease", leaseKnown(i.mgr.GetAPIReader(), key, i.opened)))
	}

	return errors.Wrap(err, "cannot add probes")
}

// cachesSynced says whether the caches are synced. missing says why one cannot be synced.
func cachesSynced(c cache.Cache, missing func() error) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
		defer cancel()

		if !c.WaitForCacheSync(ctx) {
			return errors.Join(errors.New("caches are not synced"), missing())
		}

		return nil
	}
}

// leaseKnown says whether the holder of the Lease is known: this instance, or another one. A
// standby replica is ready, because a Deployment waits for all replicas.
func leaseKnown(kube client.Reader, key types.NamespacedName, opened <-chan struct{}) healthz.Checker {
	known := &atomic.Bool{}

	return func(r *http.Request) error {
		select {
		case <-opened:
			return nil
		default:
		}

		if known.Load() {
			return nil
		}

		ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
		defer cancel()

		l := &coordinationv1.Lease{}
		if err := kube.Get(ctx, key, l); err != nil {
			return errors.Wrapf(err, "cannot get Lease %s", key)
		}

		if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
			return errors.Errorf("nobody holds Lease %s", key)
		}

		known.Store(true)

		return nil
	}
}
