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

// recordStates returns a runnable that counts, in every interval, how many Workspaces of a kind
// are in the cache, and how many of them are Ready and Synced. Each count uses a new recorder,
// because a recorder keeps the list that it has counted: 0.7 kB for every Workspace. The loop of
// the recorder itself would end the instance if a list failed.
func recordStates(kube client.Client, cache client.Reader, kind workspace.Kind, o controller.Options) manager.RunnableFunc {
	count := func(ctx context.Context) {
		list, _ := kind.List.DeepCopyObject().(resource.ManagedList)

		r := statemetrics.NewMRStateRecorder(cacheClient{kube, cache}, o.Logger, o.MetricOptions.MRStateMetrics, list, 0)
		if err := r.Record(ctx); err != nil && ctx.Err() == nil {
			o.Logger.Info("Cannot count Workspaces", "kind", kind.GroupKind(), "error", err)
		}
	}

	return func(ctx context.Context) error {
		wait.UntilWithContext(ctx, count, o.MetricOptions.PollStateMetricInterval)

		return nil
	}
}

// A cacheClient is a client whose lists share memory with a cache, so that callers must not
// change them. A deep copy of all Workspaces every few seconds would be a third of the work of an
// idle instance.
type cacheClient struct {
	client.Client

	cache client.Reader
}

// List returns the objects in the cache.
func (c cacheClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.cache.List(ctx, list, append(opts, client.UnsafeDisableDeepCopy)...)
}
