// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
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

	if i.hasSession {
		err = errors.Join(err, i.mgr.AddReadyzCheck("lease", func(*http.Request) error { return i.decided() }))
	}

	return errors.Wrap(err, "cannot add probes")
}

// decided returns an error if it is not known yet which replica works, or if this one is to work and cannot open its session: a quota
// or a webhook may refuse its Lease, and a rollout would go on. A standby replica is ready, because a Deployment waits for all replicas.
func (i *instance) decided() error {
	if i.election != nil {
		if err := i.election.Decided(); err != nil || !i.election.Holds() {
			return err
		}
	}

	if err := i.unopened.Load(); err != nil {
		return errors.Wrap(*err, "cannot open a session")
	}

	return nil
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
