// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestRefOf(t *testing.T) {
	t.Parallel()

	legacy := &clusterv1beta1.Workspace{}
	legacy.SetProviderConfigReference(&xpv2.Reference{Name: "legacy"})

	modern := &namespacedv1beta1.Workspace{}
	modern.SetNamespace("ns")
	modern.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "modern"})

	anywhere := &namespacedv1beta1.Workspace{}
	anywhere.SetNamespace("ns")
	anywhere.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "anywhere"})

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		want   Ref
	}{
		"Legacy": {
			reason: "It refers to one by name.",
			mg:     legacy,
			want:   Ref{Kind: "ProviderConfig", NamespacedName: types.NamespacedName{Name: "legacy"}},
		},
		"Namespace": {
			reason: "It refers to one of its namespace.",
			mg:     modern,
			want:   Ref{Kind: "ProviderConfig", NamespacedName: types.NamespacedName{Namespace: "ns", Name: "modern"}},
		},
		"Cluster": {
			reason: "It refers to one without a namespace.",
			mg:     anywhere,
			want:   Ref{Kind: "ClusterProviderConfig", NamespacedName: types.NamespacedName{Name: "anywhere"}},
		},
		"LegacyNone": {reason: "It may refer to none yet.", mg: &clusterv1beta1.Workspace{}},
		"ModernNone": {reason: "It may refer to none yet.", mg: &namespacedv1beta1.Workspace{}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, RefOf(tc.mg)); diff != "" {
				t.Errorf("\n%s\nRefOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCannotExist(t *testing.T) {
	t.Parallel()

	gr := schema.GroupResource{Group: namespacedv1beta1.Group, Resource: "providerconfigusages"}
	terminating := kerrors.NewForbidden(gr, "usage", errors.New("being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}

	cases := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Terminating": {reason: "No object can be created in a namespace that is being deleted.", err: terminating, want: true},
		"KindGoes":    {reason: "No object of a kind that is being deleted can be created.", err: kerrors.NewMethodNotSupported(gr, "create"), want: true},
		"NoKind":      {reason: "The client no longer knows the kind.", err: &kmeta.NoKindMatchError{GroupKind: schema.GroupKind{Group: gr.Group, Kind: "ProviderConfigUsage"}}, want: true},
		"NotFound":    {reason: "The API server no longer knows the kind.", err: kerrors.NewNotFound(gr, "usage"), want: true},
		"Forbidden":   {reason: "A missing right can be granted.", err: kerrors.NewForbidden(gr, "usage", nil)},
		"Timeout":     {reason: "The next attempt may succeed.", err: kerrors.NewServerTimeout(gr, "create", 1)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := cannotExist(errors.Wrap(tc.err, "cannot create object")); got != tc.want {
				t.Errorf("\n%s\ncannotExist(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestResolveDeleted ensures that a Workspace that is being deleted needs no usage, but only if
// none can be created.
func TestResolveDeleted(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	pc := &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "config"}}
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ws", UID: "uid", DeletionTimestamp: new(metav1.Now())}}
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: namespacedv1beta1.ClusterProviderConfigKind, Name: "config"})

	errBoom := errors.New("boom")
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(pc).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return errBoom },
	}).Build()

	if _, err := NewResolver(kube).Resolve(t.Context(), ws); !errors.Is(err, errBoom) {
		t.Errorf("Resolve(...): want %v, got %v", errBoom, err)
	}
}

// TestLongName ensures that the field is named, and not the label of the usage that the API server would refuse.
func TestLongName(t *testing.T) {
	t.Parallel()

	name := strings.Repeat("a", 64)
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ws", UID: "uid"}}
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: namespacedv1beta1.ClusterProviderConfigKind, Name: name})

	_, err := NewResolver(fake.NewClientBuilder().Build()).Resolve(t.Context(), ws)
	if want := `cannot use spec.providerConfigRef.name "` + name + `": it has 64 characters, and a ProviderConfig that a Workspace uses can have at most 63`; err == nil || err.Error() != want {
		t.Errorf("Resolve(...): want %q, got %v", want, err)
	}
}

// TestNoKind ensures that the field is named. The API server replaces a missing kind with the default, but not an empty one.
func TestNoKind(t *testing.T) {
	t.Parallel()

	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ws", UID: "uid"}}
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Name: "config"})

	_, err := NewResolver(fake.NewClientBuilder().Build()).Resolve(t.Context(), ws)
	if want := `spec.providerConfigRef.kind is "": it must be ProviderConfig or ClusterProviderConfig`; err == nil || err.Error() != want {
		t.Errorf("Resolve(...): want %q, got %v", want, err)
	}
}

// TestMissing refers to ProviderConfigs that do not exist.
func TestMissing(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	in := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	kube := fake.NewClientBuilder().WithScheme(s).WithObjects(
		&namespacedv1beta1.ProviderConfig{ObjectMeta: in("a", "mail")},
		&namespacedv1beta1.ProviderConfig{ObjectMeta: in("a", "default")},
		&namespacedv1beta1.ProviderConfig{ObjectMeta: in("b", "elsewhere")},
		&namespacedv1beta1.ClusterProviderConfig{ObjectMeta: in("", "shared")},
	).Build()

	modern := func(namespace, kind, name string) resource.Managed {
		ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ws", UID: "uid"}}
		ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: kind, Name: name})

		return ws
	}

	legacy := func(name string) resource.Managed {
		ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "ws", UID: "uid"}}
		ws.SetProviderConfigReference(&xpv2.Reference{Name: name})

		return ws
	}

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		want   string
	}{
		"Typo":       {reason: "Those that the namespace may use are named.", mg: modern("a", "ProviderConfig", "mial"), want: `no ProviderConfig "mial" in namespace a; there are ProviderConfigs default, mail; ClusterProviderConfigs shared`},
		"Kind":       {reason: "The name is that of the other kind.", mg: modern("a", "ClusterProviderConfig", "mail"), want: `no ClusterProviderConfig "mail"; there is a ProviderConfig of this name: set spec.providerConfigRef.kind`},
		"Cluster":    {reason: "The name is that of a kind without a namespace.", mg: modern("c", "ProviderConfig", "shared"), want: `no ProviderConfig "shared" in namespace c; there is a ClusterProviderConfig of this name: set spec.providerConfigRef.kind`},
		"Foreign":    {reason: "Those of another namespace cannot be used.", mg: modern("c", "ClusterProviderConfig", "elsewhere"), want: `no ClusterProviderConfig "elsewhere"; there are ClusterProviderConfigs shared`},
		"Omitted":    {reason: "The user has written neither the kind nor the name.", mg: modern("b", "ClusterProviderConfig", "default"), want: `no ClusterProviderConfig "default", the default of spec.providerConfigRef; there are ProviderConfigs elsewhere; ClusterProviderConfigs shared`},
		"OtherGroup": {reason: "One of the other group cannot be used.", mg: legacy("shared"), want: `no ProviderConfig "shared"; there is none of the API group tf.upbound.io`},
		"LegacyNone": {reason: "This kind, too, has a default.", mg: legacy("default"), want: `no ProviderConfig "default", the default of spec.providerConfigRef; there is none of the API group tf.upbound.io`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := NewResolver(kube).Resolve(t.Context(), tc.mg)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s\nResolve(...): want %q, got %v", tc.reason, tc.want, err)
			}

			// It may be retried like any other object that is missing.
			if !kerrors.IsNotFound(err) {
				t.Errorf("%s\nResolve(...): want NotFound, got %v", tc.reason, err)
			}
		})
	}
}
