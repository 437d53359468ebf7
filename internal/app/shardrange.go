// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// checkShardRange returns an error if the instance serves a range, and the API server does not
// select by ranges: it ignores the selector then, and each instance would have all Workspaces in
// its memory. A list that was selected says so.
func (i *instance) checkShardRange(ctx context.Context) error {
	selector := i.o.Shard.ShardSelector()
	if selector == "" {
		return nil
	}

	// Leases always exist, and the instance may list them. The CRDs may come later.
	list := &coordinationv1.LeaseList{}
	if err := i.mgr.GetAPIReader().List(ctx, list, client.InNamespace(i.o.LeaseNamespace), &client.ListOptions{Limit: 1, Raw: &metav1.ListOptions{ShardSelector: selector}}); err != nil {
		return errors.Wrap(err, "cannot find out whether the API server supports --shard-range: cannot list Leases")
	}

	if list.ShardInfo == nil {
		return errors.Errorf("--shard-range is %q: the API server does not select by ranges. It must be version 1.36 or later, with the feature gate ShardedListAndWatch. Without it, use --shard-name, with --assign-shards if Workspaces have no labels", i.o.ShardRange)
	}

	return nil
}

// newInformer returns a constructor of informers that report when they are refused. They get only
// the Workspaces in the range of the instance, if it serves one. The cache has no option for this
// selector.
func newInformer(id shard.ID, u *unfilled) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	selector := id.ShardSelector()

	return func(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		if _, ok := o.(workspace.Workspace); ok && selector != "" {
			all := toolscache.ToListerWatcherWithContext(lw)
			lw = &toolscache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
					options.ShardSelector = selector

					return all.ListWithContext(ctx, options)
				},
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					options.ShardSelector = selector

					return all.WatchWithContext(ctx, options)
				},
			}
		}

		i := toolscache.NewSharedIndexInformer(lw, o, resync, indexers)
		// The only error is that of an informer that has started.
		_ = u.observe(i, o)

		return i
	}
}
