// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Usages of one kind: how many there are of each ProviderConfig.
//
// Usages have no shard, and to count them takes all of them. In an informer each
// would cost every instance as much memory as half a Workspace; here it is some
// twenty bytes. They are safe for concurrent use.
type Usages struct {
	kube client.WithWatch
	gvk  schema.GroupVersionKind

	// synced is closed when all usages that there were at the start are known.
	synced   chan struct{}
	syncOnce sync.Once

	mu      sync.Mutex
	index   *usageIndex
	changed map[string][]func(types.NamespacedName)
}

// NewUsages returns the usages of every kind that the API server behind kube has, by
// their kind. Nothing is known of them until they are started.
func NewUsages(kube client.WithWatch) map[schema.GroupVersionKind]*Usages {
	all := map[schema.GroupVersionKind]*Usages{}

	for _, k := range Kinds() {
		all[k.ProviderConfigKinds.Usage] = &Usages{
			kube:    kube,
			gvk:     k.ProviderConfigKinds.Usage,
			synced:  make(chan struct{}),
			index:   newUsageIndex(),
			changed: map[string][]func(types.NamespacedName){},
		}
	}

	return all
}

// Start watches until ctx is done.
func (u *Usages) Start(ctx context.Context) error {
	cache.NewReflectorWithOptions(u.listWatch(), &metav1.PartialObjectMetadata{}, &usageStore{u}, cache.ReflectorOptions{
		Name:            u.gvk.GroupKind().String(),
		TypeDescription: u.gvk.String(),
	}).RunWithContext(ctx)

	return nil
}

// NeedLeaderElection says that an instance that stands by does without.
func (u *Usages) NeedLeaderElection() bool { return true }

// WaitForSync waits until all usages that there were at the start are known.
func (u *Usages) WaitForSync(ctx context.Context) error {
	select {
	case <-u.synced:
		return nil
	case <-ctx.Done():
		return errors.Wrapf(ctx.Err(), "cannot list objects of %s", u.gvk.GroupKind())
	}
}

// Subscribe calls fn with the name of every ProviderConfig of the supplied kind whose set
// of users changes from now on. It must not wait for anything.
func (u *Usages) Subscribe(kind string, fn func(types.NamespacedName)) {
	u.mu.Lock()
	defer u.mu.Unlock()

	u.changed[kind] = append(u.changed[kind], fn)
}

// Count the users of a ProviderConfig.
func (u *Usages) Count(ref Ref) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()

	return u.index.count(ref)
}

// Stale returns usages of a ProviderConfig that have no controller. A usage that is
// restored from a backup loses its controller.
func (u *Usages) Stale(ref Ref) []*metav1.PartialObjectMetadata {
	u.mu.Lock()
	defer u.mu.Unlock()

	c, ok := u.index.configs[ref]
	if !ok {
		return nil
	}

	stale := slices.Collect(maps.Values(c.stale))
	for i, o := range stale {
		stale[i] = o.DeepCopy()
		stale[i].SetGroupVersionKind(u.gvk)
	}

	return stale
}

// has says whether the usage of a ProviderConfig is known under the supplied name. A
// usage that is not known may exist all the same.
func (u *Usages) has(ref Ref, namespace, name string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()

	return u.index.has(ref, namespace, name)
}

// listWatch asks for metadata only: the labels say all that is counted.
func (u *Usages) listWatch() *cache.ListWatch {
	newList := func() *metav1.PartialObjectMetadataList {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(u.gvk)

		return l
	}

	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			l := newList()

			return l, u.kube.List(ctx, l, &client.ListOptions{Limit: o.Limit, Continue: o.Continue, Raw: &o})
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return u.kube.Watch(ctx, newList(), &client.ListOptions{Raw: &o})
		},
	}
}

// update the index with fn, which returns the ProviderConfigs whose set of users has
// changed, and notify the subscribers.
func (u *Usages) update(fn func() []Ref) {
	u.mu.Lock()
	refs := fn()
	changed := maps.Clone(u.changed)
	u.mu.Unlock()

	for _, ref := range refs {
		for _, tell := range changed[ref.Kind] {
			tell(ref.NamespacedName)
		}
	}
}
