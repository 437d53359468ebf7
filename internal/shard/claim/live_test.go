// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

const identity = "host-0_5ad8"

// namespace of the Leases.
const namespace = "leases"

// TestLive claims and releases on a real API server.
func TestLive(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml")

	for _, kind := range workspace.Kinds() {
		for name, test := range map[string]func(t *testing.T, f *fixture){
			"TakeAndRelease":      testTakeAndRelease,
			"Outdated":            testOutdated,
			"MadeAgain":           testMadeAgain,
			"AnswerLost":          testAnswerLost,
			"ClaimArrivesLate":    testClaimArrivesLate,
			"ErasureArrivesLate":  testErasureArrivesLate,
			"ChangedDuringErase":  testChangedDuringErase,
			"LeavesDuringWork":    testLeavesDuringWork,
			"WaitsForOwner":       testWaitsForOwner,
			"TakesCopy":           testTakesCopy,
			"TakesFromDead":       testTakesFromDead,
			"LeavesLock":          testLeavesLock,
			"UnshardedWasFaster":  testUnshardedWasFaster,
			"ClaimedByAnotherNow": testClaimedByAnotherNow,
			"Inherits":            testInherits,
		} {
			t.Run(kind.GroupKind+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, newFixture(t, cfg, kind))
			})
		}
	}
}

func testTakeAndRelease(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	if f.reconcile(t) != nil {
		t.Error("there was no work before the Workspace was claimed, and an error")
	}

	f.expectClaim(t, "What nobody has claimed is taken.", f.me())
	f.expectRuns(t, "The claim has to be seen first.", 0)

	f.look(t)

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectRuns(t, "It is claimed and everybody can see it.", 1)

	f.leave()
	f.eventuallyClaimed(t, "What left is released.", "")

	// The cache is still what it was.
	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectRuns(t, "A cache that is behind shows a claim that was released.", 1)
}

func testOutdated(t *testing.T, f *fixture) {
	t.Helper()

	f.change(t, func(o client.Object) { o.SetLabels(map[string]string{shard.LabelKey: "b"}) })

	if err := f.reconcile(t); err != nil {
		t.Errorf("somebody was faster, which is nothing to be told of: %v", err)
	}

	f.expectClaim(t, "The Workspace is not what the decision was about.", "")
	f.expectHolds(t, "It was not taken.", false)
}

// A Workspace is deleted, and one of its name is made that has the same claim.
func testMadeAgain(t *testing.T, f *fixture) {
	t.Helper()

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}

	f.leave()

	if err := f.live.Delete(t.Context(), f.ws); err != nil {
		t.Fatal(err)
	}

	f.ws.SetResourceVersion("")
	f.ws.SetUID("")
	f.ws.SetAnnotations(nil)

	if err := f.live.Create(t.Context(), f.ws); err != nil {
		t.Fatal(err)
	}

	f.claimFor(t, f.claims.me)

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectRuns(t, "The Workspace that was claimed is gone.", 0)

	f.start(t)
	f.eventually(t, "the Workspace is not held any more", func() bool { return !f.knows() })
	f.expectClaim(t, "What is released is gone: this is another one.", f.me())
}

func testAnswerLost(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			err = errors.Wrap(resp.Body.Close(), "cannot close")
		}

		return nil, errors.Wrap(errors.Join(err, errors.New("connection lost")), "cannot read answer")
	})

	if f.reconcile(t) == nil {
		t.Error("want the error of the request")
	}

	f.eventuallyClaimed(t, "A claim that may have been written is released.", "")
	f.look(t)
	f.eventuallyTakes(t)
}

func testClaimArrivesLate(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	arrive := f.delay(http.MethodPatch)

	if f.reconcile(t) == nil {
		t.Error("want the error of the request")
	}

	f.eventually(t, "the Workspace is not held any more", func() bool { return !f.knows() })

	if diff := cmp.Diff(http.StatusConflict, arrive(t)); diff != "" {
		t.Errorf("answer to the first request: -want, +got:\n%s", diff)
	}

	f.expectClaim(t, "Nobody would know of a claim that is written now.", "")
}

func testErasureArrivesLate(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}

	arrive := f.delay(http.MethodPatch)

	f.leave()
	f.eventuallyClaimed(t, "What cannot be released is tried again.", "")
	f.look(t)
	f.eventuallyTakes(t)

	if diff := cmp.Diff(http.StatusConflict, arrive(t)); diff != "" {
		t.Errorf("answer to the first request: -want, +got:\n%s", diff)
	}

	f.expectClaim(t, "The claim is another one by now.", f.me())
}

func testChangedDuringErase(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.change(t, func(o client.Object) { o.SetLabels(map[string]string{shard.LabelKey: "b"}) })

		return next.RoundTrip(r)
	})
	f.leave()
	f.eventuallyClaimed(t, "It is released whatever else changes.", "")

	if diff := cmp.Diff(map[string]string{shard.LabelKey: "b"}, f.get(t).GetLabels()); diff != "" {
		t.Errorf("labels: -want, +got:\n%s", diff)
	}
}

// The only worker of this test is at work on another Workspace, too.
func testLeavesDuringWork(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}

	f.look(t)

	began, finish := make(chan struct{}), make(chan struct{})
	f.work = func() {
		close(began)
		<-finish
	}

	ended := make(chan error, 1)

	go func() { ended <- f.reconcile(t) }()

	<-began

	// Another one has been claimed before, and leaves first.
	idle := f.create(t)

	if ok, err := f.claims.take(t.Context(), f.refOf(idle), idle); !ok || err != nil {
		t.Errorf("take(...): %t, %v", ok, err)
	}

	f.leave()
	f.reconciler.Handler().OnDelete(idle)
	f.eventually(t, "the claim on a Workspace that is idle is released although the worker is busy", func() bool {
		return f.claimOf(t, idle) == ""
	})
	f.expectClaim(t, "The claim stays as long as the work takes.", f.me())

	close(finish)

	if err := <-ended; err != nil {
		t.Error(err)
	}

	f.eventuallyClaimed(t, "The work has ended.", "")
}

func testWaitsForOwner(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.state = lease.Alive
	f.claimFor(t, another("host-1_1f33"))

	for range 2 {
		if err := f.reconcile(t); err != nil {
			t.Error(err)
		}
	}

	f.expectEvents(t, "People are told once.", 1)

	f.leases.state = lease.Unknown

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectEvents(t, "It is something else that it waits for.", 2)
	f.leave()

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectEvents(t, "It has been away: this is another wait.", 3)
	f.expectRuns(t, "It is another's.", 0)
	f.expectClaim(t, "It is another's.", another("host-1_1f33").On(f.ws.GetUID()))
}

// Whoever copies a Workspace copies its annotations.
func testTakesCopy(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.state = lease.Alive
	f.annotate(t, another("host-1_1f33").On("the-original"))

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectClaim(t, "Nobody has claimed the copy.", f.me())
}

func testTakesFromDead(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.leases.state = lease.Dead

	for _, host := range []string{"host-1", "host-2"} {
		f.claimFor(t, another(host+"_1f33"))

		if err := f.reconcile(t); err != nil {
			t.Error(err)
		}

		f.expectClaim(t, "The dead do nothing.", f.me())
		f.leave()
		f.eventuallyClaimed(t, "It leaves again.", "")
	}

	if diff := cmp.Diff("host-2,host-1", f.get(t).GetAnnotations()[shard.AbandonedAnnotationKey]); diff != "" {
		t.Errorf("hosts whose locks are nobody's: -want, +got:\n%s", diff)
	}
}

// stubLocks are the Workspaces on whose state a lock may be left.
type stubLocks struct{ left sync.Map }

func (l *stubLocks) Any(uid types.UID) bool {
	_, ok := l.left.Load(uid)

	return ok
}

func (l *stubLocks) Forget(uid types.UID) { l.left.Delete(uid) }

func testLeavesLock(t *testing.T, f *fixture) {
	t.Helper()

	locks := &stubLocks{}
	locks.left.Store(f.ws.GetUID(), true)
	f.claims.locks = locks
	f.start(t)

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.leave()
	f.eventuallyClaimed(t, "What left is released.", "")

	if diff := cmp.Diff(f.claims.me.Host(), f.get(t).GetAnnotations()[shard.AbandonedAnnotationKey]); diff != "" {
		t.Errorf("whoever is next has to know whose lock it may find: -want, +got:\n%s", diff)
	}

	f.eventually(t, "it is the business of whoever is next", func() bool { return !locks.Any(f.ws.GetUID()) })
}

func testUnshardedWasFaster(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		f.leases.hold("host-9_u")

		return next.RoundTrip(r)
	})

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.eventuallyClaimed(t, "An unsharded instance that saw no claim may be at work.", "")
	f.look(t)

	if err := f.reconcile(t); err != nil {
		t.Error(err)
	}

	f.expectRuns(t, "The unsharded instance serves every Workspace.", 0)
	f.expectClaim(t, "The unsharded instance serves every Workspace.", "")
	f.expectEvents(t, "People are told.", 1)
}

// Somebody overwrote the claim, which nobody should.
func testClaimedByAnotherNow(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}

	f.claimFor(t, another("host-1_1f33"))
	f.leave()
	f.eventually(t, "the Workspace is not held any more", func() bool { return !f.knows() })
	f.expectClaim(t, "It is another's.", another("host-1_1f33").On(f.ws.GetUID()))
}

// Whoever takes a Workspace knows what it finds there.
func testInherits(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.leases.state = lease.Dead

	for _, tc := range []struct {
		reason    string
		claim     Claim
		inherited bool
		hosts     []string
	}{
		{reason: "An earlier incarnation of this instance had the same disk.", claim: Claim{Namespace: namespace, Lease: f.claims.me.Lease, Holder: "host-1_1f33"}, hosts: []string{"host-1"}},
		{reason: "Another instance had another one.", claim: another("host-2_1f33"), inherited: true, hosts: []string{"host-2", "host-1"}},
		{reason: "Nobody knows who was there before.", inherited: true, hosts: []string{"host-2", "host-1"}},
	} {
		f.claimFor(t, tc.claim)

		if hosts, since := f.claims.Abandoned(f.ws); !since.IsZero() || f.claims.Inherited(f.ws) {
			t.Errorf("%s\nit is not held, but since %s after %q", tc.reason, since, hosts)
		}

		before := time.Now()

		if err := f.reconcile(t); err != nil {
			t.Error(err)
		}

		f.look(t)

		hosts, since := f.claims.Abandoned(f.ws)
		if diff := cmp.Diff(tc.hosts, hosts); diff != "" {
			t.Errorf("%s\nAbandoned(...): -want, +got:\n%s", tc.reason, diff)
		}

		if since.Before(before) || since.After(time.Now()) {
			t.Errorf("%s\nAbandoned(...): since %s, but it was taken after %s", tc.reason, since, before)
		}

		if got := f.claims.Inherited(f.ws); got != tc.inherited {
			t.Errorf("%s\nInherited(...): want %t, got %t", tc.reason, tc.inherited, got)
		}

		f.leave()
		f.eventuallyClaimed(t, "It leaves again.", "")
	}
}

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
	hooks  map[string]hook
	runs   int
	events int
}

// A hook is in the way of a request.
type hook func(r *http.Request, next http.RoundTripper) (*http.Response, error)

func newFixture(t *testing.T, cfg *rest.Config, kind workspace.Kind) *fixture {
	t.Helper()

	f := &fixture{kind: kind, leases: &stubLeases{}, work: func() {}, hooks: map[string]hook{}}

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	live, err := client.New(cfg, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}

	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			f.mu.Lock()
			h, ok := f.hooks[r.Method]
			delete(f.hooks, r.Method)
			f.mu.Unlock()

			if ok {
				return h(r, next)
			}

			return next.RoundTrip(r)
		})
	})

	kube, err := client.New(cfg, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}

	f.live = live
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

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)

	go func() { stopped <- f.claims.Start(ctx) }()

	t.Cleanup(func() {
		cancel()

		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func (f *fixture) create(t *testing.T) *unstructured.Unstructured {
	t.Helper()

	ws := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"forProvider": map[string]any{"source": "Inline", "module": ""},
	}}}
	ws.SetGroupVersionKind(f.kind.GroupVersionKind)
	ws.SetGenerateName("ws-")
	ws.SetLabels(map[string]string{shard.LabelKey: "a"})

	if strings.Contains(f.kind.GroupVersionKind.Group, ".m.") {
		ws.SetNamespace(corev1.NamespaceDefault)
	}

	if err := f.live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

// An oldReader is the cache: it holds the Workspace as it was last looked at.
type oldReader struct{ f *fixture }

func (r oldReader) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	to, ok := o.(*unstructured.Unstructured)
	if !ok {
		return errors.Errorf("asked for %T", o)
	}

	r.f.ws.DeepCopyInto(to)

	return nil
}

func (r oldReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nobody lists")
}

type counter struct{ f *fixture }

func (c counter) Event(runtime.Object, event.Event) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()

	c.f.events++
}

func (c counter) WithAnnotations(...string) event.Recorder { return c }

type stubLeases struct {
	state lease.State

	mu     sync.Mutex
	holder string
}

func (l *stubLeases) Namespace() string { return namespace }

func (l *stubLeases) State(context.Context, client.ObjectKey, string) lease.State { return l.state }

func (l *stubLeases) Holder(context.Context, string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.holder, nil
}

func (l *stubLeases) hold(holder string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.holder = holder
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (rt roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return rt(r) }

// once puts a hook in the way of the next request with the supplied method.
func (f *fixture) once(method string, h hook) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.hooks[method] = h
}

// delay the next request with the supplied method: its sender is told that the
// connection is lost. It arrives when the returned function is called, which returns
// the status of the answer.
func (f *fixture) delay(method string) func(t *testing.T) int {
	type sent struct {
		r    *http.Request
		next http.RoundTripper
	}

	kept := make(chan sent, 1)

	f.once(method, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		late := r.Clone(context.WithoutCancel(r.Context()))

		body, err := r.GetBody()
		if err != nil {
			return nil, errors.Wrap(err, "cannot keep request")
		}

		late.Body = body
		kept <- sent{r: late, next: next}

		return nil, errors.New("connection lost")
	})

	return func(t *testing.T) int {
		t.Helper()

		s := <-kept

		resp, err := s.next.RoundTrip(s.r)
		if err != nil {
			t.Fatal(err)
		}

		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}

		return resp.StatusCode
	}
}

func (f *fixture) me() string { return f.claims.me.On(f.ws.GetUID()) }

// another instance, which serves another shard.
func another(holder string) Claim {
	return Claim{Namespace: namespace, Lease: "lease-b", Holder: holder}
}

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

func (f *fixture) expectClaim(t *testing.T, reason, want string) {
	t.Helper()

	if diff := cmp.Diff(want, f.claimOf(t, f.ws)); diff != "" {
		t.Errorf("%s\nclaim: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectHolds(t *testing.T, reason string, want bool) {
	t.Helper()

	if diff := cmp.Diff(want, f.claims.held.holds(f.ref(), f.ws.GetUID())); diff != "" {
		t.Errorf("%s\nholds: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectRuns(t *testing.T, reason string, want int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	if diff := cmp.Diff(want, f.runs); diff != "" {
		t.Errorf("%s\nreconciles that were passed on: -want, +got:\n%s", reason, diff)
	}
}

func (f *fixture) expectEvents(t *testing.T, reason string, want int) {
	t.Helper()

	f.mu.Lock()
	defer f.mu.Unlock()

	if diff := cmp.Diff(want, f.events); diff != "" {
		t.Errorf("%s\nevents: -want, +got:\n%s", reason, diff)
	}
}

// knows says whether anything is remembered of the Workspace.
func (f *fixture) knows() bool {
	f.claims.held.mu.Lock()
	defer f.claims.held.mu.Unlock()

	_, ok := f.claims.held.held[f.ref()]

	return ok
}

func (f *fixture) eventuallyClaimed(t *testing.T, reason, want string) {
	t.Helper()

	f.eventually(t, reason, func() bool { return f.claimOf(t, f.ws) == want && !f.knows() })
}

// eventuallyTakes the Workspace, when the release has come to its end.
func (f *fixture) eventuallyTakes(t *testing.T) {
	t.Helper()

	f.eventually(t, "the Workspace is taken again", func() bool {
		return f.reconcile(t) == nil && f.claimOf(t, f.ws) == f.me()
	})
}

func (f *fixture) eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()

	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Errorf("never came true: %s", what)
	}
}
