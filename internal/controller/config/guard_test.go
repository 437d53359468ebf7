// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpproviderconfig "github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

func newClient(t *testing.T) *fake.ClientBuilder {
	t.Helper()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	return fake.NewClientBuilder().WithScheme(s)
}

// TestWrites counts the writes of a ProviderConfig that is not being deleted.
func TestWrites(t *testing.T) {
	t.Parallel()

	update := func(g *guard, pc client.Object) error { return g.Update(t.Context(), pc) }
	status := func(g *guard, pc client.Object) error { return g.Status().Update(t.Context(), pc) }

	cases := map[string]struct {
		reason string
		change func(pc *namespacedv1beta1.ProviderConfig)
		write  func(g *guard, pc client.Object) error
		want   int
	}{
		"FinalizerThere": {
			reason: "The finalizer is there.",
			change: func(pc *namespacedv1beta1.ProviderConfig) { meta.AddFinalizer(pc, finalizer) },
			write:  update,
		},
		"FinalizerMissing": {
			reason: "Only another finalizer is there.",
			change: func(pc *namespacedv1beta1.ProviderConfig) { meta.AddFinalizer(pc, "new") },
			write:  update,
			want:   1,
		},
		"SameStatus": {
			reason: "Nothing has changed.",
			change: func(*namespacedv1beta1.ProviderConfig) {},
			write:  status,
		},
		"Users": {
			reason: "There is another user.",
			change: func(pc *namespacedv1beta1.ProviderConfig) { pc.SetUsers(2) },
			write:  status,
			want:   1,
		},
		"Condition": {
			reason: "It is being deleted.",
			change: func(pc *namespacedv1beta1.ProviderConfig) { pc.SetConditions(xpproviderconfig.Terminating()) },
			write:  status,
			want:   1,
		},
		"NotCached": {
			reason: "The cache does not have it.",
			change: func(pc *namespacedv1beta1.ProviderConfig) { pc.SetName("b") },
			write:  status,
			want:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			writes := 0
			pc := &namespacedv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Finalizers: []string{finalizer}}}
			pc.SetUsers(1)

			g := &guard{kind: providerconfig.Kinds()[1], Client: newClient(t).WithObjects(pc).WithInterceptorFuncs(interceptor.Funcs{
				Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
					writes++

					return nil
				},
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					writes++

					return nil
				},
			}).Build()}

			if err := g.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
				t.Fatal(err)
			}

			tc.change(pc)

			if err := tc.write(g, pc); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, writes); diff != "" {
				t.Errorf("\n%s\nwrites: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUsers has one usage on the API server. In some cases it is that of another ProviderConfig.
func TestUsers(t *testing.T) {
	t.Parallel()

	one, all := namespacedv1beta1.ProviderConfigGroupVersionKind, namespacedv1beta1.ClusterProviderConfigGroupVersionKind
	namesakes := map[string]string{one.Kind: all.Kind, all.Kind: one.Kind}

	label := func(u client.Object, key, value string) {
		l := u.GetLabels()
		l[key] = value
		u.SetLabels(l)
	}

	cases := map[string]struct {
		reason string
		// only lists the kinds for which the case exists. It is empty for all kinds.
		only   []schema.GroupVersionKind
		change func(u client.Object)
		want   bool
	}{
		"Used":    {reason: "A Workspace uses it.", change: func(client.Object) {}, want: true},
		"Stale":   {reason: "It has no controller.", change: func(u client.Object) { u.SetOwnerReferences(nil) }},
		"Another": {reason: "It belongs to another name.", change: func(u client.Object) { label(u, xpv2.LabelKeyProviderName, "another") }},
		"Namesake": {
			reason: "It belongs to the other kind of the same name.",
			only:   []schema.GroupVersionKind{one, all},
			change: func(u client.Object) {
				label(u, xpv2.LabelKeyProviderKind, namesakes[u.GetLabels()[xpv2.LabelKeyProviderKind]])
			},
		},
		"Elsewhere": {
			reason: "It belongs to another namespace.",
			only:   []schema.GroupVersionKind{one},
			change: func(u client.Object) { u.SetNamespace("elsewhere") },
		},
		"Anywhere": {
			reason: "A kind without a namespace is used in all namespaces.",
			only:   []schema.GroupVersionKind{all},
			change: func(u client.Object) { u.SetNamespace("elsewhere") },
			want:   true,
		},
	}

	for _, kind := range providerconfig.Kinds() {
		for name, tc := range cases {
			if len(tc.only) > 0 && !slices.Contains(tc.only, kind.Config) {
				continue
			}

			t.Run(kind.Config.GroupKind().String()+"/"+name, func(t *testing.T) {
				t.Parallel()

				pc, isConfig := kind.Object.DeepCopyObject().(resource.ProviderConfig)
				u, isObject := kind.Usage.DeepCopyObject().(client.Object)

				if !isConfig || !isObject {
					t.Fatalf("%T is not a ProviderConfig, or %T is not an object", kind.Object, kind.Usage)
				}

				pc.SetName("config")

				if kind.Config == one {
					pc.SetNamespace("ns")
				}

				u.SetName("usage")
				u.SetLabels(map[string]string{xpv2.LabelKeyProviderName: "config"})
				u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Workspace", Name: "ws", UID: "uid", Controller: new(true)}})

				if !kind.Legacy() {
					u.SetNamespace("ns")
					label(u, xpv2.LabelKeyProviderKind, kind.Config.Kind)
				}

				tc.change(u)

				g := &guard{live: newClient(t).WithObjects(u).Build(), kind: kind}

				got, err := g.users(t.Context(), pc)
				if err != nil {
					t.Fatal(err)
				}

				var want []string
				if tc.want {
					want = []string{providerconfig.NameOf(u.GetNamespace(), "ws")}
				}

				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s\nusers(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestUsersGone has no kind of usages: its definition was deleted before the ProviderConfig.
func TestUsersGone(t *testing.T) {
	t.Parallel()

	notFound := kerrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet, schema.GroupResource{}, "", "", 0, true)

	cases := map[string]struct {
		reason      string
		err         error
		definitions int
		want        error
	}{
		"NoKind":    {reason: "The instance has never used the kind.", err: &apimeta.NoKindMatchError{}},
		"Gone":      {reason: "A kind without a definition has no objects.", err: notFound},
		"NotServed": {reason: "There may be usages.", err: notFound, definitions: 1, want: notFound},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kind := providerconfig.Kinds()[0]
			g := &guard{kind: kind, live: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
					if list.GetObjectKind().GroupVersionKind() == kind.UsageList {
						return tc.err
					}

					if l, ok := list.(*metav1.PartialObjectMetadataList); ok {
						l.Items = make([]metav1.PartialObjectMetadata, tc.definitions)
					}

					return nil
				},
			}).Build()}

			if users, err := g.users(t.Context(), &clusterv1beta1.ProviderConfig{}); users != nil || !errors.Is(err, tc.want) {
				t.Errorf("%s\nusers(...): want %v, got %v, %v", tc.reason, tc.want, users, err)
			}
		})
	}
}

// A recorder has the events.
type recorder struct{ events []event.Event }

func (r *recorder) Event(_ runtime.Object, e event.Event) { r.events = append(r.events, e) }

func (r *recorder) WithAnnotations(...string) event.Recorder { return r }

// TestBlocked ensures that people are told once why a ProviderConfig without usages stays.
func TestBlocked(t *testing.T) {
	t.Parallel()

	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ws", Finalizers: []string{managed.FinalizerName}}}
	ws.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: namespacedv1beta1.ClusterProviderConfigKind, Name: "config"})

	pc := &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "config", Finalizers: []string{finalizer}, DeletionTimestamp: new(metav1.Now())}}
	kinds := providerconfig.Kinds()
	kube := newClient(t).WithObjects(ws, pc).WithStatusSubresource(pc).Build()
	events := &recorder{}
	g := &guard{Client: kube, live: kube, kind: kinds[len(kinds)-1], recorder: events}

	for range 2 {
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
			t.Fatal(err)
		}

		// The stock reconciler removes its finalizer.
		pc.SetFinalizers(nil)

		if err := g.Update(t.Context(), pc); err == nil {
			t.Fatal("it was released")
		}
	}

	want := xpproviderconfig.Terminating().WithMessage("Deletion waits for the Workspace that uses it: ns/ws")
	if got := pc.GetCondition(want.Type); !got.Equal(want) {
		t.Errorf("condition: want %+v, got %+v", want, got)
	}

	if diff := cmp.Diff([]event.Event{event.Warning(reasonAccount, errors.New(want.Message))}, events.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestRefused ensures that people are told if the API server refuses an update. The stock reconciler
// does not tell them.
func TestRefused(t *testing.T) {
	t.Parallel()

	refusal := kerrors.NewForbidden(schema.GroupResource{Resource: "providerconfigs"}, "config", errors.New("cannot update"))

	for _, deleted := range []*metav1.Time{nil, new(metav1.Now())} {
		pc := &namespacedv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "config", DeletionTimestamp: deleted, Finalizers: []string{"other"}}}
		kube := newClient(t).WithObjects(pc).WithInterceptorFuncs(interceptor.Funcs{
			Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return refusal },
		}).Build()
		events := &recorder{}
		g := &guard{Client: kube, live: kube, kind: providerconfig.Kinds()[1], recorder: events}

		meta.AddFinalizer(pc, finalizer)

		if err := g.Update(t.Context(), pc); !errors.Is(err, refusal) {
			t.Errorf("want the refusal, got %v", err)
		}

		want := []event.Event{event.Warning(reasonAccount, errors.Wrap(refusal, "cannot update ProviderConfig"))}
		if diff := cmp.Diff(want, events.events); diff != "" {
			t.Errorf("events of a ProviderConfig that was deleted at %v: -want, +got:\n%s", deleted, diff)
		}
	}
}

// TestNamedUsers ensures that people are told which Workspaces use a ProviderConfig that is deleted, and that
// the same users are written once.
func TestNamedUsers(t *testing.T) {
	t.Parallel()

	pc := &namespacedv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "config", Finalizers: []string{finalizer}, DeletionTimestamp: new(metav1.Now())}}
	kind := providerconfig.Kinds()[1]
	objects := []client.Object{pc}

	for _, name := range []string{"g", "f", "e", "d", "c", "b", "a"} {
		u := &namespacedv1beta1.ProviderConfigUsage{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "uid-" + name, Labels: map[string]string{xpv2.LabelKeyProviderName: "config", xpv2.LabelKeyProviderKind: kind.Config.Kind},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Workspace", Name: name, UID: "uid", Controller: new(true)}},
		}}
		objects = append(objects, u)
	}

	kube := newClient(t).WithObjects(objects...).WithStatusSubresource(pc).Build()
	events := &recorder{}
	g := &guard{Client: kube, live: kube, kind: kind, recorder: events}

	var versions []string

	for range 2 {
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(pc), pc); err != nil {
			t.Fatal(err)
		}

		// The stock reconciler replaces the condition each time.
		stockRecorder{events}.Event(pc, event.Warning(reasonAccount, errors.New(stockBlocked)))
		pc.SetUsers(7)
		pc.SetConditions(xpproviderconfig.Terminating().WithMessage(stockBlocked))

		if err := g.Status().Update(t.Context(), pc); err != nil {
			t.Fatal(err)
		}

		versions = append(versions, pc.GetResourceVersion())
	}

	want := "Deletion waits for the 7 Workspaces that use it: ns/a, ns/b, ns/c, ns/d, ns/e, ... and 2 more"
	if got := pc.GetCondition(xpproviderconfig.TypeTerminating); got.Message != want {
		t.Errorf("condition: want %q, got %+v", want, got)
	}

	told := event.Warning(reasonAccount, errors.New(want))
	if diff := cmp.Diff([]event.Event{told, told}, events.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}

	if versions[0] != versions[1] {
		t.Errorf("want one write, got the versions %v", versions)
	}
}
