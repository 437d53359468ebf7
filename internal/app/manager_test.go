// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

func TestWithWorkspaces(t *testing.T) {
	t.Parallel()

	other := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Other"}
	discovered := meta.NewDefaultRESTMapper(nil)
	discovered.Add(other, meta.RESTScopeNamespace)

	cases := map[string]struct {
		reason string
		gvk    schema.GroupVersionKind
		scope  meta.RESTScopeName
		found  bool
	}{
		"Cluster":    {reason: "known before its CRD exists", gvk: clusterv1beta1.WorkspaceGroupVersionKind, scope: meta.RESTScopeNameRoot, found: true},
		"Namespaced": {reason: "known before its CRD exists", gvk: namespacedv1beta1.WorkspaceGroupVersionKind, scope: meta.RESTScopeNameNamespace, found: true},
		"Other":      {reason: "the API server knows it", gvk: other, scope: meta.RESTScopeNameNamespace, found: true},
		"Unknown":    {reason: "unknown to the API server", gvk: schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Unknown"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := withWorkspaces(discovered).RESTMapping(tc.gvk.GroupKind(), tc.gvk.Version)
			if !tc.found {
				if !meta.IsNoMatchError(err) {
					t.Errorf("%s: want no match, got %v", tc.reason, err)
				}

				return
			}

			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.scope, m.Scope.Name()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMissingKinds makes the cache of a shard before the CRDs exist. It needs the scope of both kinds
// of Workspace. The mapper of the manager must not know them.
func TestMissingKinds(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	mapper := meta.NewDefaultRESTMapper(nil)
	o := cache.Options{Scheme: scheme, Mapper: mapper, ByObject: map[client.Object]cache.ByObject{}}

	for _, k := range workspace.Kinds() {
		o.ByObject[k.Object] = cache.ByObject{Label: shard.CatchAll().Selector()}
	}

	i := &instance{}
	if _, err := i.newCache(&rest.Config{}, o); err != nil {
		t.Errorf("newCache(...): %v", err)
	}

	for _, k := range workspace.Kinds() {
		if _, err := mapper.RESTMapping(k.GroupVersionKind.GroupKind(), k.GroupVersionKind.Version); !meta.IsNoMatchError(err) {
			t.Errorf("RESTMapping(...) of %s: want no match, got %v", k.GroupVersionKind, err)
		}
	}
}

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://localhost:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`

func TestNewConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv("KUBECONFIG", file)

	type limits struct {
		QPS   float32
		Burst int
	}

	cases := map[string]struct {
		reason  string
		workers int
		want    limits
	}{
		"One":  {reason: "The limits for one worker allow the requests of a creation.", workers: 1, want: limits{QPS: 20, Burst: 40}},
		"Many": {reason: "Each worker adds to the limits.", workers: 10, want: limits{QPS: 200, Burst: 400}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := newConfig(&Options{MaxReconcileRate: tc.workers})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, limits{QPS: c.QPS, Burst: c.Burst}); diff != "" {
				t.Errorf("\n%s\nnewConfig(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// lists records the resources that are listed or watched through the transport.
type lists struct {
	http.RoundTripper

	mu sync.Mutex

	// of has the label selectors, by the last part of the path.
	of map[string]string
}

func (l *lists) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); r.Method == http.MethodGet && q.Has("limit") || q.Has("watch") {
		parts := strings.Split(r.URL.Path, "/")

		l.mu.Lock()
		l.of[parts[len(parts)-1]] = q.Get("labelSelector")
		l.mu.Unlock()
	}

	return l.RoundTripper.RoundTrip(r)
}

// A cacheFixture contains the objects in the API server.
type cacheFixture struct {
	// mine are Workspaces of the shard, and others those of another one.
	mine, others []client.Object

	// configs are for all shards.
	configs []client.Object

	// uncached are read on demand.
	uncached []client.Object
}

// newCacheFixture creates all objects.
func newCacheFixture(t *testing.T, cfg *rest.Config) *cacheFixture {
	t.Helper()

	om := func(name, shardName string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{shard.LabelKey: shardName}}
	}
	workspaces := func(om metav1.ObjectMeta) []client.Object {
		n, c := &namespacedv1beta1.Workspace{ObjectMeta: om}, &clusterv1beta1.Workspace{ObjectMeta: om}
		c.SetNamespace("")

		n.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline
		c.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

		return []client.Object{c, n}
	}
	global := metav1.ObjectMeta{Name: "config"}

	f := &cacheFixture{
		mine:   workspaces(om("mine", "a")),
		others: workspaces(om("other", "b")),
		configs: []client.Object{
			&clusterv1beta1.ProviderConfig{ObjectMeta: global},
			&namespacedv1beta1.ProviderConfig{ObjectMeta: om("config", "b")},
			&namespacedv1beta1.ClusterProviderConfig{ObjectMeta: global},
		},
		uncached: []client.Object{&corev1.Secret{ObjectMeta: om("secret", "b")}, &corev1.ConfigMap{ObjectMeta: om("configmap", "b")}},
	}

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	live, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}

	for _, o := range slices.Concat(f.mine, f.others, f.configs, f.uncached) {
		if err := live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}

		if len(o.GetManagedFields()) == 0 {
			t.Fatalf("%T has no managed fields", o)
		}
	}

	return f
}

// expect that an instance finds exactly the objects that it works with, without the fields that
// it does not need.
func (f *cacheFixture) expect(t *testing.T, kube client.Client, cached client.Reader) {
	t.Helper()

	crd := &extv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "workspaces.tf.upbound.io"}}

	for _, o := range slices.Concat(f.mine, f.configs, []client.Object{crd}) {
		o := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // It is one.
		if err := cached.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || len(o.GetManagedFields()) > 0 {
			t.Errorf("%T in memory: want no managed fields, got %v and error %v", o, o.GetManagedFields(), err)
		}
	}

	for _, o := range f.uncached {
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)); err != nil { //nolint:forcetypeassert // It is one.
			t.Errorf("%T: %v", o, err)
		}
	}

	for _, o := range f.others {
		if err := cached.Get(t.Context(), client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)); !kerrors.IsNotFound(err) { //nolint:forcetypeassert // It is one.
			t.Errorf("%T of another shard: want it not to be found, got error %v", o, err)
		}
	}
}

// TestCache ensures that an instance keeps only necessary objects in memory.
func TestCache(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, filepath.Join("..", "..", "package", "crds"))
	f := newCacheFixture(t, cfg)

	id, err := shard.Parse("a")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason  string
		secrets bool
		want    map[string]string
	}{
		"Default": {
			reason:  "Secrets are cached if the flag asks for it.",
			secrets: true,
			want:    map[string]string{"workspaces": shard.LabelKey + "=a", "providerconfigs": "", "clusterproviderconfigs": "", "customresourcedefinitions": "", "secrets": ""},
		},
		"NoSecretCache": {
			reason: "Only objects about Workspaces are cached for the whole cluster.",
			want:   map[string]string{"workspaces": shard.LabelKey + "=a", "providerconfigs": "", "clusterproviderconfigs": "", "customresourcedefinitions": ""},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			noted := &lists{of: map[string]string{}}
			watched := *cfg
			watched.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				noted.RoundTripper = rt

				return noted
			})

			i := &instance{config: &watched, o: &Options{
				Shard:                  id,
				SyncInterval:           time.Hour,
				EnableSecretCache:      tc.secrets,
				MetricsBindAddress:     "0",
				HealthProbeBindAddress: "0",
			}}
			if err := i.newManager(t.Context()); err != nil {
				t.Fatal(err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)

			go func() { ended <- i.mgr.Start(ctx) }()

			<-i.mgr.Elected()
			f.expect(t, i.mgr.GetClient(), i.mgr.GetCache())
			cancel()

			if err := <-ended; err != nil {
				t.Error(err)
			}

			if diff := cmp.Diff(tc.want, noted.of); diff != "" {
				t.Errorf("\n%s\nlabel selectors of lists and watches: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
