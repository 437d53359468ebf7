// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"net/http"
	"sync"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
)

const identity = "host-0_5ad8"

// namespace of the Leases.
const namespace = "leases"

// A fixture is shard a, and a Workspace that it is to serve.
type fixture struct {
	live       client.Client
	kind       workspace.Kind
	leases     *stubLeases
	claims     *Claims
	reconciler *Reconciler

	// ws is the Workspace as the cache holds it.
	ws   *unstructured.Unstructured
	work func()

	mu     sync.Mutex
	hooks  map[string]apiserver.Hook
	runs   int
	events int
}

func newFixture(t *testing.T, cfg *rest.Config, kind workspace.Kind) *fixture {
	t.Helper()

	f := &fixture{kind: kind, leases: &stubLeases{}, work: func() {}, hooks: map[string]apiserver.Hook{}}

	f.live = apiserver.Client(t, cfg)
	kube := apiserver.Client(t, apiserver.Through(cfg, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.mu.Lock()
		h, ok := f.hooks[r.Method]
		delete(f.hooks, r.Method)
		f.mu.Unlock()

		if ok {
			return h(r, next)
		}

		return next.RoundTrip(r)
	}))

	f.ws = f.create(t)
	f.claims = New(mustParse("a"), identity, f.leases, oldReader{f}, kube, WithRecorder(counter{f}))
	f.reconciler = f.claims.Reconciler(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		f.mu.Lock()
		f.runs++
		f.mu.Unlock()
		f.work()

		return reconcile.Result{}, nil
	}), kind.GroupVersionKind, &unstructured.Unstructured{Object: map[string]any{}})

	return f
}

// start to release.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	background.Run(t, f.claims.Start)
}

func (f *fixture) create(t *testing.T) *unstructured.Unstructured {
	t.Helper()

	ws := apiserver.Workspace(f.kind.GroupVersionKind, "a")
	if err := f.live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

func (f *fixture) me() string { return f.claims.me.On(f.ws.GetUID()) }

func (f *fixture) ref() ref { return f.refOf(f.ws) }

func (f *fixture) refOf(o client.Object) ref {
	return newRef(f.kind.GroupVersionKind, client.ObjectKeyFromObject(o))
}

func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()

	_, err := f.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.ws)})

	return err
}

// look lets the cache catch up.
func (f *fixture) look(t *testing.T) {
	t.Helper()

	f.ws = f.get(t)
}

func (f *fixture) get(t *testing.T) *unstructured.Unstructured {
	t.Helper()

	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(f.kind.GroupVersionKind)

	if err := f.live.Get(t.Context(), client.ObjectKeyFromObject(f.ws), o); err != nil {
		t.Fatal(err)
	}

	return o
}

// leave the cache.
func (f *fixture) leave() { f.reconciler.Handler().OnDelete(f.ws) }

// change the Workspace behind the back of the cache.
func (f *fixture) change(t *testing.T, fn func(o client.Object)) {
	t.Helper()

	before := f.get(t)
	after := before.DeepCopy()
	fn(after)

	if err := f.live.Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Error(err)
	}
}

// claimFor somebody, as the cache sees at once.
func (f *fixture) claimFor(t *testing.T, claim Claim) {
	t.Helper()
	f.annotate(t, claim.On(f.ws.GetUID()))
}

// annotate the Workspace with a claim, as the cache sees at once.
func (f *fixture) annotate(t *testing.T, claim string) {
	t.Helper()

	f.change(t, func(o client.Object) {
		a := o.GetAnnotations()
		if a == nil {
			a = map[string]string{}
		}

		a[shard.ClaimAnnotationKey] = claim
		o.SetAnnotations(a)
	})
	f.look(t)
}

func (f *fixture) claimOf(t *testing.T, o client.Object) string {
	t.Helper()

	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(f.kind.GroupVersionKind)

	if err := f.live.Get(t.Context(), client.ObjectKeyFromObject(o), m); err != nil && !kerrors.IsNotFound(err) {
		t.Error(err)
	}

	return m.GetAnnotations()[shard.ClaimAnnotationKey]
}

// knows says whether anything is remembered of the Workspace.
func (f *fixture) knows() bool {
	f.claims.held.mu.Lock()
	defer f.claims.held.mu.Unlock()

	_, ok := f.claims.held.held[f.ref()]

	return ok
}

// another instance, which serves another shard.
func another(holder string) Claim {
	return Claim{Namespace: namespace, Lease: "lease-b", Holder: holder}
}
