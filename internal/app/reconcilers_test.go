// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/metrics"
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

// A singleCache has one Workspace.
type singleCache struct {
	*informertest.FakeInformers

	ws *clusterv1beta1.Workspace
}

func (c singleCache) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if ws, ok := o.(*clusterv1beta1.Workspace); ok {
		c.ws.DeepCopyInto(ws)
	}

	return nil
}

// A stubScheduler reads the Workspace, as the managed reconciler does, unless it waits.
type stubScheduler struct {
	managed client.Reader
	waits   bool
}

func (s stubScheduler) Waits(client.Object) (time.Duration, bool) { return time.Minute, s.waits }

func (s stubScheduler) Reconcile(ctx context.Context, o client.Object) (reconcile.Result, error) {
	return reconcile.Result{}, s.managed.Get(ctx, client.ObjectKeyFromObject(o), &clusterv1beta1.Workspace{})
}

// TestReads counts the requests of an unsharded instance for a Workspace.
func TestReads(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		waits  bool
		claim  *commonv1beta1.Claim
		want   int
		result reconcile.Result
	}{
		"Runs": {reason: "One request is for the decision about claims and for the managed reconciler.", want: 1},
		"Claimed": {
			reason: "It gets no slot, because another instance may work on it.",
			waits:  true,
			claim:  &commonv1beta1.Claim{},
			want:   1,
		},
		"Waits": {reason: "Nothing is done, so that no decision about claims is needed.", waits: true, result: reconcile.Result{RequeueAfter: time.Minute}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
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

			cached := ws.DeepCopy()
			cached.SetOwnership(commonv1beta1.Ownership{UID: ws.GetUID(), Claim: tc.claim})

			i := &instance{o: &Options{}, mgr: cacheManager{cache: singleCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, ws: cached}}, claims: claim.New(shard.ID{}, "", nil, nil, kube, claim.Options{Metrics: metrics.NewNop()})}
			kind := workspace.Kind{GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind, Object: &clusterv1beta1.Workspace{}}

			r, _ := i.withClaims(stubScheduler{managed: statusclient.NewClient(kube, nil), waits: tc.waits}, kind)

			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ws)})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.result, result); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}

			if requests != tc.want {
				t.Errorf("\n%s\nReconcile(...): want %d requests for the Workspace, got %d", tc.reason, tc.want, requests)
			}
		})
	}
}
