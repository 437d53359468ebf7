// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A cacheManager is a manager with a cache and nothing else.
type cacheManager struct {
	manager.Manager

	cache cache.Cache
}

func (m cacheManager) GetCache() cache.Cache { return m.cache }

// TestReadOnce ensures that an unsharded instance requests a Workspace once for a reconcile, both
// for the decision about claims and for the managed reconciler.
func TestReadOnce(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	requests := 0
	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(ws).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			requests++

			return c.Get(ctx, key, o, opts...)
		},
	}).Build()

	s := &sharding{mgr: cacheManager{cache: &informertest.FakeInformers{Scheme: scheme}}, claims: claim.New(shard.ID{}, "", nil, nil, kube)}
	managed := statusclient.NewClient(kube, nil)
	key := client.ObjectKeyFromObject(ws)

	for _, kind := range workspace.Kinds() {
		if kind.GroupVersionKind != clusterv1beta1.WorkspaceGroupVersionKind {
			continue
		}

		r, err := s.wrap(t.Context(), reconcile.TypedFunc[client.Object](func(ctx context.Context, _ client.Object) (reconcile.Result, error) {
			return reconcile.Result{}, managed.Get(ctx, key, &clusterv1beta1.Workspace{})
		}), kind)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
	}

	if requests != 1 {
		t.Errorf("Reconcile(...): want 1 request for the Workspace, got %d", requests)
	}
}
