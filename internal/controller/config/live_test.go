// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

// key of the ProviderConfig that the test is about. The namespace is nothing to those
// that have none.
func keyOf(kind providerconfig.Kind) client.ObjectKey {
	if kind.Config == namespacedv1beta1.ProviderConfigGroupVersionKind {
		return client.ObjectKey{Namespace: "ns", Name: "config"}
	}

	return client.ObjectKey{Name: "config"}
}

// configOf returns that ProviderConfig, deleted or not.
func configOf(t *testing.T, kind providerconfig.Kind, deleted bool) client.Object {
	t.Helper()

	o, ok := kind.Object.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T is not an object", kind.Object)
	}

	o.SetNamespace(keyOf(kind).Namespace)
	o.SetName(keyOf(kind).Name)
	o.SetFinalizers([]string{"in-use.crossplane.io"})

	if deleted {
		o.SetDeletionTimestamp(new(metav1.Now()))
	}

	return o
}

// usageOf returns what records that a Workspace uses a ProviderConfig.
func usageOf(t *testing.T, kind providerconfig.Kind, change ...func(u client.Object)) client.Object {
	t.Helper()

	u, ok := kind.Usage.DeepCopyObject().(client.Object)
	if !ok {
		t.Fatalf("%T is not an object", kind.Usage)
	}

	u.SetName("usage")
	u.SetLabels(map[string]string{xpv2.LabelKeyProviderName: "config"})
	u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Workspace", Name: "ws", UID: "uid", Controller: new(true)}})

	if kind.Config.Group != clusterv1beta1.Group {
		u.SetNamespace("ns")
		u.SetLabels(map[string]string{xpv2.LabelKeyProviderName: "config", xpv2.LabelKeyProviderKind: kind.Config.Kind})
	}

	for _, fn := range change {
		fn(u)
	}

	return u
}

func TestReconcile(t *testing.T) {
	t.Parallel()

	scheme := runtime.NewScheme()
	if err := apis.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	stale := func(u client.Object) { u.SetOwnerReferences(nil) }
	ofAnother := func(u client.Object) {
		l := u.GetLabels()
		l[xpv2.LabelKeyProviderName] = "another"
		u.SetLabels(l)
	}
	// The other kind that may have the same name.
	ofNamesake := func(u client.Object) {
		l := u.GetLabels()
		l[xpv2.LabelKeyProviderKind] = map[string]string{
			namespacedv1beta1.ProviderConfigKind:        namespacedv1beta1.ClusterProviderConfigKind,
			namespacedv1beta1.ClusterProviderConfigKind: namespacedv1beta1.ProviderConfigKind,
		}[l[xpv2.LabelKeyProviderKind]]
		u.SetLabels(l)
	}

	elsewhere := func(u client.Object) { u.SetNamespace("elsewhere") }

	type change = func(u client.Object)

	cases := map[string]struct {
		reason string
		absent bool
		living bool
		// cached and live are usages that either knows, each with its changes.
		cached, live [][]change
		// only says which kinds there is such a case for, all if there is none.
		only []schema.GroupVersionKind
		// passed says that the common reconciler gets the request.
		passed bool
		want   reconcile.Result
	}{
		"Absent":      {reason: "There is nothing to keep.", absent: true},
		"Living":      {reason: "Users of one that nobody deletes are counted.", living: true, passed: true},
		"Unused":      {reason: "Nobody uses it.", passed: true},
		"Used":        {reason: "Why it stays is for the common reconciler to say.", cached: [][]change{{}}, live: [][]change{{}}, passed: true},
		"UsedSince":   {reason: "A usage that the cache has not seen yet keeps it.", live: [][]change{{}}, want: reconcile.Result{RequeueAfter: cacheLag}},
		"Stale":       {reason: "A usage without a Workspace does not keep it.", live: [][]change{{stale}}, passed: true},
		"AnotherUsed": {reason: "A usage of another one does not keep it.", live: [][]change{{ofAnother}}, passed: true},
		"NamesakeUsed": {
			reason: "Neither does one of the other kind with the same name.",
			live:   [][]change{{ofNamesake}},
			only:   []schema.GroupVersionKind{namespacedv1beta1.ProviderConfigGroupVersionKind, namespacedv1beta1.ClusterProviderConfigGroupVersionKind},
			passed: true,
		},
		"UsedElsewhere": {
			reason: "Nor one in another namespace.",
			live:   [][]change{{elsewhere}},
			only:   []schema.GroupVersionKind{namespacedv1beta1.ProviderConfigGroupVersionKind},
			passed: true,
		},
		"UsedAnywhere": {
			reason: "One without a namespace is used in all of them.",
			live:   [][]change{{elsewhere}},
			only:   []schema.GroupVersionKind{namespacedv1beta1.ClusterProviderConfigGroupVersionKind},
			want:   reconcile.Result{RequeueAfter: cacheLag},
		},
	}

	for _, kind := range providerconfig.Kinds() {
		for name, tc := range cases {
			if len(tc.only) > 0 && !slices.Contains(tc.only, kind.Config) {
				continue
			}

			t.Run(kind.Config.Kind+"."+kind.Config.Group+"/"+name, func(t *testing.T) {
				t.Parallel()

				reader := func(usages [][]change) client.Reader {
					b := fake.NewClientBuilder().WithScheme(scheme)
					if !tc.absent {
						b.WithObjects(configOf(t, kind, !tc.living))
					}

					for _, changes := range usages {
						b.WithObjects(usageOf(t, kind, changes...))
					}

					return b.Build()
				}

				passed := false
				r := &liveReconciler{
					inner: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
						passed = true

						return reconcile.Result{}, nil
					}),
					client: reader(tc.cached),
					live:   reader(tc.live),
					scheme: scheme,
					kind:   kind,
				}

				got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(kind)})
				if err != nil {
					t.Fatalf("%s\nReconcile(...): %v", tc.reason, err)
				}

				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
				}

				if passed != tc.passed {
					t.Errorf("%s\nReconcile(...): passed on: want %t, got %t", tc.reason, tc.passed, passed)
				}
			})
		}
	}
}

// TestReconcileConflict meets another shard that writes the same count.
func TestReconcileConflict(t *testing.T) {
	t.Parallel()

	scheme := runtime.NewScheme()
	if err := apis.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	for _, kind := range providerconfig.Kinds() {
		t.Run(kind.Config.Kind+"."+kind.Config.Group, func(t *testing.T) {
			t.Parallel()

			r := &liveReconciler{
				inner: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, kerrors.NewConflict(schema.GroupResource{Resource: "providerconfigs"}, "config", nil)
				}),
				client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(configOf(t, kind, false)).Build(),
				scheme: scheme,
				kind:   kind,
			}

			got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(kind)})
			if err != nil || got == (reconcile.Result{}) {
				t.Errorf("want another try and no error, got %+v, %v", got, err)
			}
		})
	}
}
