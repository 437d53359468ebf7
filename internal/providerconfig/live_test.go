// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	ofNamespace = namespacedv1beta1.ProviderConfigKind
	ofCluster   = namespacedv1beta1.ClusterProviderConfigKind
)

// TestLive records usages on a real API server.
func TestLive(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../package/crds")

	t.Run("Parallel", func(t *testing.T) {
		for name, workspace := range map[string]func(namespace string) resource.Managed{
			"track-legacy":  legacyWorkspace,
			"track-modern":  func(namespace string) resource.Managed { return modernWorkspace(namespace, ofNamespace) },
			"track-cluster": func(namespace string) resource.Managed { return modernWorkspace(namespace, ofCluster) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				testTrack(t, newFixture(t, cfg, name), workspace(name))
			})
		}

		t.Run("Unseen", func(t *testing.T) { t.Parallel(); testUnseen(t, newFixture(t, cfg, "unseen")) })
		t.Run("Terminating", func(t *testing.T) { t.Parallel(); testTerminating(t, newFixture(t, cfg, "terminating")) })
	})
}

// testTrack ensures that a recorded usage costs no request, and that a deleted one is recorded
// again.
func testTrack(t *testing.T, f *fixture, mg resource.Managed) {
	t.Helper()

	usage := client.Object(&clusterv1beta1.ProviderConfigUsage{})
	if mg.GetNamespace() != "" {
		usage = &namespacedv1beta1.ProviderConfigUsage{}
	}

	usage.SetNamespace(mg.GetNamespace())
	usage.SetName(string(mg.GetUID()))

	key := client.ObjectKeyFromObject(usage)
	cached := f.cached(t)
	r := NewResolver(cached)
	version := usage.GetResourceVersion
	expectCached := func() {
		t.Helper()
		f.eventually(t, func() error {
			if err := f.kube.Get(t.Context(), key, usage); err != nil {
				return err
			}

			want := version()

			if err := cached.Get(t.Context(), key, usage); err != nil {
				return err
			}

			if version() != want {
				return errors.Errorf("resource version in the cache: want %s, got %s", want, version())
			}

			return nil
		})
	}

	track := func() int {
		t.Helper()

		before := len(f.requested())

		if err := r.track(t.Context(), mg); err != nil {
			t.Fatal(err)
		}

		return len(f.requested()) - before
	}

	track()
	expectCached()

	for range 3 {
		if n := track(); n != 0 {
			t.Errorf("%d requests to record a known usage", n)
		}
	}

	// The existing provider may have left it. Without the finalizer, the usage is gone.
	if err := f.kube.Get(t.Context(), key, usage); err != nil {
		t.Fatal(err)
	}

	usage.SetFinalizers([]string{usageFinalizer})

	if err := errors.Join(f.kube.Update(t.Context(), usage), f.kube.Delete(t.Context(), usage)); err != nil {
		t.Fatal(err)
	}

	expectCached()
	track()

	f.eventually(t, func() error {
		if err := cached.Get(t.Context(), key, usage); !kerrors.IsNotFound(err) {
			return errors.Errorf("want %s not to be in the cache, got %v", key, err)
		}

		return nil
	})
	track()
	expectCached()

	// The Workspace uses another ProviderConfig now.
	switch mg := mg.(type) {
	case resource.ModernManaged:
		ref := *mg.GetProviderConfigReference()
		ref.Name = f.namespace + "-other"
		mg.SetProviderConfigReference(&ref)
	case resource.LegacyManaged:
		mg.SetProviderConfigReference(&xpv2.Reference{Name: f.namespace + "-other"})
	}

	track()
	expectCached()

	if diff := cmp.Diff(f.namespace+"-other", usage.GetLabels()[xpv2.LabelKeyProviderName]); diff != "" {
		t.Errorf("the ProviderConfig that is used: -want, +got:\n%s", diff)
	}
}

// testUnseen ensures that a usage that was just recorded, and may not be in the cache yet, is no
// error.
func testUnseen(t *testing.T, f *fixture) {
	t.Helper()

	ws := modernWorkspace(f.namespace, ofNamespace)
	r := NewResolver(interceptor.NewClient(f.counted, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
		},
	}))

	for range 2 {
		if err := r.track(t.Context(), ws); err != nil {
			t.Errorf("cannot record the same usage again: %v", err)
		}
	}
}

// testTerminating has a namespace that is being deleted, so that no usage can be recorded. A
// Workspace that is deleted with it needs none.
func testTerminating(t *testing.T, f *fixture) {
	t.Helper()

	pc := &namespacedv1beta1.ProviderConfig{}
	pc.SetNamespace(f.namespace)
	pc.SetName(f.namespace + "-default")
	f.create(t, pc)

	// Without a namespace controller the namespace stays in this state.
	if err := f.kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}); err != nil {
		t.Fatal(err)
	}

	ws := modernWorkspace(f.namespace, ofNamespace)
	r := NewResolver(f.counted)

	if _, err := r.Resolve(t.Context(), ws); !kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("a Workspace that stays needs its usage, got: %v", err)
	}

	ws.SetDeletionTimestamp(new(metav1.Now()))

	if _, err := r.Resolve(t.Context(), ws); err != nil {
		t.Errorf("a Workspace that is deleted does not: %v", err)
	}
}

func legacyWorkspace(namespace string) resource.Managed {
	ws := &clusterv1beta1.Workspace{}
	ws.SetGroupVersionKind(clusterv1beta1.WorkspaceGroupVersionKind)
	ws.SetName("workspace")
	ws.SetUID("5cbe1ca9-4be5-4c72-9f0b-a0c9f4f0a3a1")
	ws.SetProviderConfigReference(&xpv2.Reference{Name: namespace + "-default"})

	return ws
}

func modernWorkspace(namespace, kind string) resource.Managed {
	ws := &namespacedv1beta1.Workspace{}
	ws.SetGroupVersionKind(namespacedv1beta1.WorkspaceGroupVersionKind)
	ws.SetNamespace(namespace)
	ws.SetName("workspace")
	ws.SetUID("0f9b5a1e-6a53-4b0f-8c63-6d1b1a3a2b10")
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: kind, Name: namespace + "-default"})

	return ws
}

// A fixture is a namespace of the shared API server.
type fixture struct {
	namespace string

	// kube and counted have all rights. Requests of the latter are recorded.
	kube    client.Client
	counted client.WithWatch
	cfg     *rest.Config

	mu       sync.Mutex
	requests []*http.Request
}

func newFixture(t *testing.T, cfg *rest.Config, namespace string) *fixture {
	t.Helper()

	f := &fixture{namespace: namespace, kube: apiserver.Client(t, cfg)}

	f.cfg = apiserver.Through(cfg, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()

		return next.RoundTrip(r)
	})

	// The discovery of kinds is not part of the test.
	var err error
	if f.counted, err = client.NewWithWatch(f.cfg, client.Options{Scheme: f.kube.Scheme(), Mapper: f.kube.RESTMapper()}); err != nil {
		t.Fatal(err)
	}

	f.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})

	return f
}

// requested returns all requests so far, including those of the cache.
func (f *fixture) requested() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.requests
}

func (f *fixture) create(t *testing.T, o client.Object) {
	t.Helper()

	if err := f.kube.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// cached returns a client that reads usages from a cache.
func (f *fixture) cached(t *testing.T) client.Client {
	t.Helper()

	c, err := cluster.New(f.cfg, func(o *cluster.Options) { o.Scheme = f.kube.Scheme() })
	if err != nil {
		t.Fatal(err)
	}

	background.Run(t, c.Start)

	if !c.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not start")
	}

	// The first read of each kind waits until the cache has all objects of it.
	for _, l := range []client.ObjectList{&clusterv1beta1.ProviderConfigUsageList{}, &namespacedv1beta1.ProviderConfigUsageList{}} {
		if err := c.GetClient().List(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}

	return c.GetClient()
}

func (f *fixture) eventually(t *testing.T, check func() error) {
	t.Helper()

	if err := wait.Until(t.Context(), wait.Patience, check); err != nil {
		t.Fatal(err)
	}
}
