// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestLive watches and records usages on a real API server.
func TestLive(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../package/crds")

	t.Run("Parallel", func(t *testing.T) {
		t.Run("Watch", func(t *testing.T) { t.Parallel(); testWatch(t, newFixture(t, cfg, "watch")) })
		t.Run("TrackLegacy", func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, cfg, "legacy")
			testTrack(t, f, legacyWorkspace())
		})
		t.Run("TrackModern", func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, cfg, "modern")
			testTrack(t, f, modernWorkspace(f.namespace, ofNamespace))
		})
		t.Run("TrackCluster", func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, cfg, "cluster")
			testTrack(t, f, modernWorkspace(f.namespace, ofCluster))
		})
		t.Run("Terminating", func(t *testing.T) { t.Parallel(); testTerminating(t, newFixture(t, cfg, "terminating")) })
	})
}

// A watch knows what was there before, and what comes and goes; all it asks for is
// metadata.
func testWatch(t *testing.T, f *fixture) {
	t.Helper()

	a, b, c := f.usage("a", "before"), f.usage("b", "before"), f.usage("c", "after")
	f.create(t, a)
	f.create(t, b)

	usages := f.start(t, namespacedv1beta1.ProviderConfigUsageGroupVersionKind)
	if diff := cmp.Diff(int64(2), usages.Count(f.ref("before"))); diff != "" {
		t.Errorf("What was there before counts as soon as it is synced: -want, +got:\n%s", diff)
	}

	f.create(t, c)
	f.expectUsers(t, usages, "after", 1)

	a.SetLabels(f.usage("a", "after").GetLabels())

	if err := f.kube.Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}

	f.expectUsers(t, usages, "after", 2)
	f.expectUsers(t, usages, "before", 1)

	if err := f.kube.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}

	f.expectUsers(t, usages, "after", 1)

	for _, r := range f.requested() {
		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "as=PartialObjectMetadata") {
			t.Errorf("%s: asks for more than metadata: %s", r.URL, accept)
		}
	}
}

// A usage that is known to be recorded costs no request. A deleted one is recorded again.
func testTrack(t *testing.T, f *fixture, mg resource.Managed) {
	t.Helper()

	gvk, usage := clusterv1beta1.ProviderConfigUsageGroupVersionKind, client.Object(&clusterv1beta1.ProviderConfigUsage{})
	if mg.GetNamespace() != "" {
		gvk, usage = namespacedv1beta1.ProviderConfigUsageGroupVersionKind, &namespacedv1beta1.ProviderConfigUsage{}
	}

	usage.SetNamespace(mg.GetNamespace())
	usage.SetName(string(mg.GetUID()))

	key := client.ObjectKeyFromObject(usage)
	usages := f.start(t, gvk)
	r := NewResolver(f.counted, map[schema.GroupVersionKind]*Usages{gvk: usages})
	known := func() error {
		if !r.tracked(gvk, refTo(mg), mg) {
			return errors.Errorf("%s is not known", key)
		}

		return nil
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

	if err := f.kube.Get(t.Context(), key, usage); err != nil {
		t.Fatal(err)
	}

	f.eventually(t, known)

	for range 3 {
		if n := track(); n != 0 {
			t.Errorf("%d requests to record what is known", n)
		}
	}

	if err := f.kube.Delete(t.Context(), usage); err != nil {
		t.Fatal(err)
	}

	f.eventually(t, func() error {
		if known() == nil {
			return errors.Errorf("%s is still known", key)
		}

		return nil
	})
	track()
	f.eventually(t, known)

	if err := f.kube.Get(t.Context(), key, usage); err != nil {
		t.Fatal(err)
	}

	// Another ProviderConfig is used now.
	switch mg := mg.(type) {
	case resource.ModernManaged:
		ref := *mg.GetProviderConfigReference()
		ref.Name = f.name("other")
		mg.SetProviderConfigReference(&ref)
	case resource.LegacyManaged:
		mg.SetProviderConfigReference(&xpv2.Reference{Name: f.name("other")})
	}

	track()
	f.eventually(t, known)

	if err := f.kube.Get(t.Context(), key, usage); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(f.name("other"), usage.GetLabels()[xpv2.LabelKeyProviderName]); diff != "" {
		t.Errorf("the ProviderConfig that is used: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(int64(1), usages.Count(refTo(mg))); diff != "" {
		t.Errorf("users of it: -want, +got:\n%s", diff)
	}
}

// In a namespace that is being deleted no usage can be recorded. A Workspace that is
// deleted with it does without.
func testTerminating(t *testing.T, f *fixture) {
	t.Helper()

	pc := &namespacedv1beta1.ProviderConfig{}
	pc.SetNamespace(f.namespace)
	pc.SetName(f.name("default"))
	f.create(t, pc)

	// Without a namespace controller it stays like this.
	if err := f.kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}); err != nil {
		t.Fatal(err)
	}

	ws := modernWorkspace(f.namespace, ofNamespace)
	r := NewResolver(f.counted, nil)

	if _, err := r.Resolve(t.Context(), ws); !kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("a Workspace that stays needs its usage, got: %v", err)
	}

	ws.SetDeletionTimestamp(new(metav1.Now()))

	if _, err := r.Resolve(t.Context(), ws); err != nil {
		t.Errorf("a Workspace that is deleted does not: %v", err)
	}
}

func refTo(mg resource.Managed) Ref {
	ref, _ := RefOf(mg)

	return ref
}

func legacyWorkspace() resource.Managed {
	ws := &clusterv1beta1.Workspace{}
	ws.SetGroupVersionKind(clusterv1beta1.WorkspaceGroupVersionKind)
	ws.SetName("workspace")
	ws.SetUID("5cbe1ca9-4be5-4c72-9f0b-a0c9f4f0a3a1")
	ws.SetProviderConfigReference(&xpv2.Reference{Name: "legacy-default"})

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

// A fixture is a namespace of the API server that all share.
type fixture struct {
	namespace string

	// kube and counted may do anything. Requests of the latter are kept.
	kube    client.Client
	counted client.WithWatch

	mu       sync.Mutex
	requests []*http.Request
}

func newFixture(t *testing.T, cfg *rest.Config, namespace string) *fixture {
	t.Helper()

	f := &fixture{namespace: namespace, kube: apiserver.Client(t, cfg)}

	counted := apiserver.Through(cfg, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()

		return next.RoundTrip(r)
	})

	// What kinds there are is no matter of the test.
	var err error
	if f.counted, err = client.NewWithWatch(counted, client.Options{Scheme: f.kube.Scheme(), Mapper: f.kube.RESTMapper()}); err != nil {
		t.Fatal(err)
	}

	f.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})

	return f
}

// requested returns all requests so far, those of the watch of usages included.
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

// start the usages of a kind, and wait until they are synced.
func (f *fixture) start(t *testing.T, gvk schema.GroupVersionKind) *Usages {
	t.Helper()

	usages := NewUsages(f.counted)[gvk]
	background.Run(t, usages.Start)

	if err := usages.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}

	return usages
}

func (f *fixture) name(config string) string { return f.namespace + "-" + config }

func (f *fixture) ref(config string) Ref {
	return Ref{Kind: ofNamespace, NamespacedName: types.NamespacedName{Namespace: f.namespace, Name: f.name(config)}}
}

// usage of a ProviderConfig of the namespace.
func (f *fixture) usage(name, config string) *namespacedv1beta1.ProviderConfigUsage {
	u := &namespacedv1beta1.ProviderConfigUsage{}
	u.ObjectMeta = newUsage(f.namespace, name, ofNamespace, f.name(config)).ObjectMeta
	u.OwnerReferences[0].APIVersion = namespacedv1beta1.SchemeGroupVersion.String()
	u.OwnerReferences[0].UID = types.UID(name)
	u.ResourceReference = xpv2.TypedReference{APIVersion: "v1", Kind: "Workspace", Name: name}
	u.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: ofNamespace, Name: f.name(config)}

	return u
}

func (f *fixture) expectUsers(t *testing.T, u *Usages, config string, want int64) {
	t.Helper()
	f.eventually(t, func() error {
		if have := u.Count(f.ref(config)); have != want {
			return errors.Errorf("users of %q: want %d, got %d", config, want, have)
		}

		return nil
	})
}

func (f *fixture) eventually(t *testing.T, check func() error) {
	t.Helper()

	if err := wait.Until(t.Context(), wait.Patience, check); err != nil {
		t.Fatal(err)
	}
}
