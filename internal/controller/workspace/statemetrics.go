// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// recordStates returns a runnable that counts, in every interval, how many Workspaces of a kind
// are in the cache, and how many of them are Ready, Synced, Drifted, Stalled and AwaitingApproval. Each count uses a new recorder,
// because a recorder keeps the list that it has counted: 0.7 kB for every Workspace. The loop of
// the recorder itself would end the instance if a list failed.
func recordStates(kube client.Client, cache client.Reader, kind workspace.Kind, o controller.Options, m StateMetrics) manager.RunnableFunc {
	count := func(ctx context.Context) {
		list, _ := kind.List.DeepCopyObject().(resource.ManagedList)

		r := statemetrics.NewMRStateRecorder(cacheClient{kube, cache}, o.Logger, o.MetricOptions.MRStateMetrics, list, 0)
		if err := r.Record(ctx); err != nil && ctx.Err() == nil {
			o.Logger.Info("Cannot count Workspaces", "kind", kind.GroupKind(), "error", err)
		} else if err == nil {
			countConditions(list, kind, m)
		}
	}

	return func(ctx context.Context) error {
		wait.UntilWithContext(ctx, count, o.MetricOptions.PollStateMetricInterval)

		return nil
	}
}

// countConditions counts the conditions that a managed resource of another provider does not have.
func countConditions(list resource.ManagedList, kind workspace.Kind, m StateMetrics) {
	n := map[xpv2.ConditionType]int{workspace.TypeDrifted: 0, workspace.TypeStalled: 0, workspace.TypeAwaitingApproval: 0}

	for _, mg := range list.GetItems() {
		for t := range n {
			if mg.GetCondition(t).Status == corev1.ConditionTrue {
				n[t]++
			}
		}
	}

	for t := range n {
		m.Workspaces(kind.GroupVersionKind.String(), string(t), n[t])
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
