// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A creation and a deletion need about a dozen requests each, and the CLI takes a tenth of a second
// for a small module. With fewer requests than these per worker, bursts of Workspaces would wait
// for the limit and not for the CLI. The limit is for an instance that goes wrong. It applies to
// each kind of object: controller-runtime has a REST client for each, and no shared limit.
const (
	qpsOfWorker   = 20
	burstOfWorker = 40
)

func newConfig(o *Options) (*rest.Config, error) {
	cfg, err := loadConfig()
	if err != nil {
		return nil, err
	}

	cfg.QPS = float32(qpsOfWorker * o.MaxReconcileRate)
	cfg.Burst = burstOfWorker * o.MaxReconcileRate
	// The API server warns about the name of Crossplane's finalizers whenever one is written.
	cfg.WarningHandlerWithContext = rest.NoWarnings{}

	return cfg, nil
}

// loadConfig loads the configuration of the Kubernetes client: that of KUBECONFIG; else that of the pod; else
// that in the home directory. GetConfig of controller-runtime does the same, but logs an error with a
// stack before it returns one.
func loadConfig() (*rest.Config, error) {
	path := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	if path == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return cfg, nil
		}
	}

	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()

	switch {
	case err == nil:
		return cfg, nil
	case !clientcmd.IsEmptyConfig(err):
		return nil, errors.Wrapf(err, "cannot load the configuration of the Kubernetes client: KUBECONFIG is %q", path)
	case path == "":
		return nil, errors.Errorf("no configuration of the Kubernetes client: this is no pod with a ServiceAccount, and there is no %s. Set KUBECONFIG to a file, or run in a cluster", clientcmd.RecommendedHomeFile)
	default:
		return nil, errors.Errorf("no configuration of the Kubernetes client: KUBECONFIG is %q, and no such file has one", path)
	}
}

// served leaves the part of a CRD that the gate of the controllers needs. The gate would not start a controller for a CRD that is being
// deleted. The API server serves its objects until the last one is gone, and they need their controller to end.
func served(o any) (any, error) {
	if crd, ok := o.(*extv1.CustomResourceDefinition); ok {
		crd.SetDeletionTimestamp(nil)
	}

	return customresourcesgate.TransformStripCRDSchema(o)
}

// newManager makes the manager. It knows no leader election: see join.
func (i *instance) newManager(context.Context) error {
	o := i.o

	// The scheme is complete before the manager is made: the cache uses it to find the namespaced
	// kinds in ByObject.
	scheme, err := newScheme()
	if err != nil {
		return err
	}

	byObject := map[client.Object]cache.ByObject{
		&extv1.CustomResourceDefinition{}: {Transform: served},
	}
	uncached := []client.Object{&corev1.ConfigMap{}}

	for _, k := range workspace.Kinds() {
		// The API server selects the Workspaces, so that an instance keeps only its share in memory.
		byObject[k.Object] = cache.ByObject{Label: o.Shard.Selector()}
		// A reconcile must be able to read its Workspace until its end: a Workspace that loses the label
		// of the shard leaves the cache in the middle of a run.
		uncached = append(uncached, k.Object)
	}

	if !o.EnableSecretCache {
		uncached = append(uncached, &corev1.Secret{})
	}

	mo := ctrl.Options{
		Scheme:    scheme,
		NewCache:  i.newCache,
		NewClient: newClient,
		Cache: cache.Options{
			NewInformer:      newInformer(o.Shard, &i.cache),
			SyncPeriod:       &o.SyncInterval,
			ByObject:         byObject,
			DefaultTransform: providerconfig.CompactUsages(cache.TransformStripManagedFields()),
		},
		Client:                 client.Options{Cache: &client.CacheOptions{DisableFor: uncached}},
		Metrics:                metricsserver.Options{BindAddress: o.MetricsBindAddress},
		HealthProbeBindAddress: o.HealthProbeBindAddress,
		// The drain limits the shutdown.
		GracefulShutdownTimeout: new(time.Duration(-1)),
	}
	i.mgr, err = ctrl.NewManager(i.config, mo)

	return errors.Wrap(err, "cannot make manager")
}

// newClient returns the client of the manager.
func newClient(cfg *rest.Config, o client.Options) (client.Client, error) {
	c, err := client.New(cfg, o)

	return statusclient.NewClient(c, o.Cache.Reader), err
}

// newCache returns the cache of the manager, with built-in kinds of Workspace. The cache, which
// selects Workspaces, needs their scope when the manager is made, but with SafeStart their CRDs may come
// later. All other clients must detect a missing kind.
func (i *instance) newCache(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	o.Mapper = withWorkspaces(o.Mapper)

	c, err := cache.New(cfg, o)
	i.cache.Cache = c

	return &i.cache, err
}

func withWorkspaces(m meta.RESTMapper) meta.RESTMapper {
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(clusterv1beta1.WorkspaceGroupVersionKind, meta.RESTScopeRoot)
	known.Add(namespacedv1beta1.WorkspaceGroupVersionKind, meta.RESTScopeNamespace)

	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{known, m}}
}

// newScheme returns a scheme with every type that an instance reads or writes.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	b := runtime.NewSchemeBuilder(
		apis.AddToScheme,
		authorizationv1.AddToScheme,
		coordinationv1.AddToScheme,
		corev1.AddToScheme,
		extv1.AddToScheme,
	)

	return s, errors.Wrap(b.AddToScheme(s), "cannot build scheme")
}

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
// the Workspaces in the range of the instance. The cache has no option for this selector.
func newInformer(id shard.ID, c *refusingCache) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
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
		_ = c.observe(i, o)

		return i
	}
}
