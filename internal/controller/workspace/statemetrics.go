// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A stateRecorder counts how many Workspaces there are in the cache, and how many of
// them are Ready and Synced. The recorder of crossplane-runtime keeps the copy of all
// of them that it makes for that.
type stateRecorder struct {
	cache    client.Reader
	kind     workspace.Kind
	interval time.Duration
	metrics  *statemetrics.MRStateMetrics
	log      logging.Logger
}

// Start counts until ctx is done.
func (r *stateRecorder) Start(ctx context.Context) error {
	t := time.NewTicker(r.interval)
	defer t.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}

		if err := r.record(ctx); err != nil && ctx.Err() == nil {
			r.log.Info("Cannot count Workspaces", "error", err)
		}
	}
}

func (r *stateRecorder) record(ctx context.Context) error {
	list, ok := r.kind.List.DeepCopyObject().(resource.ManagedList)
	if !ok {
		return errors.Errorf("%T is not a list of managed resources", r.kind.List)
	}

	// Nothing is changed here, and a deep copy of all Workspaces every few seconds is
	// a third of what an idle instance does.
	if err := r.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return errors.Wrap(err, "cannot list Workspaces")
	}

	ready, synced := 0, 0

	for _, ws := range list.GetItems() {
		if ws.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			ready++
		}

		if ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue {
			synced++
		}
	}

	gvk := r.kind.GroupVersionKind.String()
	r.metrics.Exists.WithLabelValues(gvk).Set(float64(len(list.GetItems())))
	r.metrics.Ready.WithLabelValues(gvk).Set(float64(ready))
	r.metrics.Synced.WithLabelValues(gvk).Set(float64(synced))

	return nil
}
