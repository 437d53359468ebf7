// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"net/http"
	"sync"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
)

// namespace of the Leases.
const namespace = "leases"

// own returns the claim of the process.
func own() Claim {
	return Claim{Namespace: namespace, Lease: "session-a-1", Holder: "host-0_5ad8", Instance: "a", LongestSeconds: 60}
}

func mayRun() error { return nil }

// A fixture is shard a, and a Workspace that it is to serve.
type fixture struct {
	live       client.Client
	kind       workspace.Kind
	sessions   *stubSessions
	claims     *Claims
	reconciler *Reconciler

	// ws is the Workspace as the cache holds it.
	ws    Object
	work  func()
	inner *inner

	mu       sync.Mutex
	hooks    map[string]apiserver.Hook
	runs     int
	events   int
	warnings int
}

func newFixture(t *testing.T, cfg *rest.Config, kind workspace.Kind) *fixture {
	t.Helper()

	f := &fixture{kind: kind, sessions: &stubSessions{}, work: func() {}, hooks: map[string]apiserver.Hook{}}

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
	f.claims = New(mustParse("a"), own(), f.sessions, oldReader{f}, kube, Options{
		FailedRuns: &stubFailedRuns{}, Recorder: counter{f}, Metrics: metrics.New(nil), MayRun: mayRun, RetryPeriod: 2 * time.Second, LongestRun: time.Hour,
	})
	f.inner = &inner{work: func(client.Object) {
		f.mu.Lock()
		f.runs++
		f.mu.Unlock()
		f.work()
	}}
	f.reconciler = f.claims.Reconciler(f.inner, kind.GroupVersionKind, kind.Object)

	return f
}

// start to release claims.
func (f *fixture) start(t *testing.T) {
	t.Helper()
	background.Run(t, f.claims.Start)
}

func (f *fixture) create(t *testing.T) Object {
	t.Helper()

	ws := apiserver.Workspace(f.kind.GroupVersionKind, "a")
	if err := f.live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return f.read(t, ws)
}

func (f *fixture) me() Claim { return f.claims.me }

func (f *fixture) ref() ref { return f.refOf(f.ws) }

func (f *fixture) refOf(o client.Object) ref {
	return ref{kind: f.kind.GroupVersionKind, key: client.ObjectKeyFromObject(o)}
}

func (f *fixture) request() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.ws)}
}

func (f *fixture) reconcile(t *testing.T) error {
	t.Helper()

	result, err := f.reconciler.Reconcile(t.Context(), f.request())
	if err != nil && result != (reconcile.Result{}) {
		t.Errorf("controller-runtime warns of a result with an error, and ignores it: %+v", result)
	}

	return err
}

// take claims a Workspace without work.
func (f *fixture) take(t *testing.T, o Object) {
	t.Helper()

	r := f.refOf(o)
	f.claims.held.add(r, o.GetUID(), false)

	if taken, err := f.claims.take(t.Context(), r, o); taken == nil || err != nil {
		t.Errorf("take(...): %v, %v", taken, err)
	}

	f.claims.held.end(r)
}

// refresh lets the cache catch up.
func (f *fixture) refresh(t *testing.T) {
	t.Helper()

	f.ws = f.get(t)
}

func (f *fixture) get(t *testing.T) Object {
	t.Helper()

	return f.read(t, f.ws)
}

func (f *fixture) read(t *testing.T, o client.Object) Object {
	t.Helper()

	ws := f.empty(t)
	if err := f.live.Get(t.Context(), client.ObjectKeyFromObject(o), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

func (f *fixture) empty(t *testing.T) Object {
	t.Helper()

	return copyOf(t, f.kind.Object)
}

func copyOf(t *testing.T, o client.Object) Object {
	t.Helper()

	c, ok := o.DeepCopyObject().(Object)
	if !ok {
		t.Fatalf("%T has no claim", o)
	}

	return c
}

// leave the cache.
func (f *fixture) leave() { f.claims.Left(f.ws) }

// change the Workspace without the cache.
func (f *fixture) change(t *testing.T, fn func(o client.Object)) {
	t.Helper()

	before := f.get(t)
	after := copyOf(t, before)
	fn(after)

	if err := f.live.Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Error(err)
	}
}

// claimFor an instance. The cache sees it at once.
func (f *fixture) claimFor(t *testing.T, claim Claim) {
	t.Helper()
	f.owned(t, func(o *commonv1beta1.Ownership) { o.Claim = claimed(claim) })
}

// owned changes the ownership of the Workspace. The cache sees it at once.
func (f *fixture) owned(t *testing.T, fn func(o *commonv1beta1.Ownership)) {
	t.Helper()
	f.ownAs(t, f.ws.GetUID(), fn)
}

// ownAs is owned for a status that was written for the Workspace of the supplied UID.
func (f *fixture) ownAs(t *testing.T, uid types.UID, fn func(o *commonv1beta1.Ownership)) {
	t.Helper()

	before := f.get(t)
	after := copyOf(t, before)
	o := after.GetOwnership()
	fn(&o)
	after.SetUID(uid)
	after.SetOwnership(o)
	after.SetUID(before.GetUID())

	if err := f.live.Status().Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Error(err)
	}

	f.refresh(t)
}

// claimed returns a claim as the status stores it.
func claimed(c Claim) *commonv1beta1.Claim {
	if c == (Claim{}) {
		return nil
	}

	return &c
}

func (f *fixture) claimOf(t *testing.T, o client.Object) Claim {
	t.Helper()

	ws := f.empty(t)
	if err := f.live.Get(t.Context(), client.ObjectKeyFromObject(o), ws); err != nil && !kerrors.IsNotFound(err) {
		t.Error(err)
	}

	return Of(ws)
}

// knows says whether the instance has any record of the Workspace.
func (f *fixture) knows() bool {
	f.claims.held.mu.Lock()
	defer f.claims.held.mu.Unlock()

	_, ok := f.claims.held.held[f.ref()]

	return ok
}

// another returns the claim of an instance that serves another shard.
func another(holder string) Claim {
	return Claim{Namespace: namespace, Lease: "session-b-" + holder, Holder: holder, Instance: "b"}
}
