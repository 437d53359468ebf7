// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// recordStates returns a runnable that counts, in every interval, how many Workspaces of a
// kind there are in the cache, and how many of them are Ready and Synced. Each count has a
// recorder of its own, because a recorder keeps the list that it has counted: 0.7 kB for
// every Workspace. Its own loop would also end the instance when it cannot list.
func recordStates(kube client.Client, cache client.Reader, kind workspace.Kind, o controller.Options) manager.RunnableFunc {
	count := func(ctx context.Context) {
		list, _ := kind.List.DeepCopyObject().(resource.ManagedList)

		r := statemetrics.NewMRStateRecorder(cacheClient{kube, cache}, o.Logger, o.MetricOptions.MRStateMetrics, list, 0)
		if err := r.Record(ctx); err != nil && ctx.Err() == nil {
			o.Logger.Info("Cannot count Workspaces", "kind", kind.GroupKind, "error", err)
		}
	}

	return func(ctx context.Context) error {
		wait.UntilWithContext(ctx, count, o.MetricOptions.PollStateMetricInterval)

		return nil
	}
}

// A cacheClient is a client whose lists share memory with a cache, so they must not be
// changed. A deep copy of all Workspaces every few seconds would be a third of what an idle
// instance does.
type cacheClient struct {
	client.Client

	cache client.Reader
}

// List lists what is in the cache.
func (c cacheClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.cache.List(ctx, list, append(opts, client.UnsafeDisableDeepCopy)...)
}
