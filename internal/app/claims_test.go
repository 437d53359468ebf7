// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/statusclient"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A cacheManager is a manager with a cache and nothing else.
type cacheManager struct {
	manager.Manager

	cache cache.Cache
}

func (m cacheManager) GetCache() cache.Cache { return m.cache }

// A singleCache has one Workspace, or none.
type singleCache struct {
	*informertest.FakeInformers

	ws *clusterv1beta1.Workspace
}

func (c singleCache) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if c.ws == nil {
		return kerrors.NewNotFound(schema.GroupResource{}, "a")
	}

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

func (s stubScheduler) Waits(workspace.Workspace) (time.Duration, bool) { return time.Minute, s.waits }

func (s stubScheduler) Reconcile(ctx context.Context, o client.Object) (reconcile.Result, error) {
	return reconcile.Result{}, s.managed.Get(ctx, client.ObjectKeyFromObject(o), &clusterv1beta1.Workspace{})
}

// stubLeases has the state of every instance.
type stubLeases struct {
	claim.Leases

	state lease.State
}

func (l *stubLeases) State(context.Context, client.ObjectKey, string) lease.State { return l.state }

// A waitingGauge has the last number of Workspaces that wait, and the number of hand-offs.
type waitingGauge struct{ waiting, handedOff int }

func (g *waitingGauge) ClaimsWaiting(n int) { g.waiting = n }

func (g *waitingGauge) HandedOff(string, time.Duration) { g.handedOff++ }

// TestGoneWhileWaiting removes a Workspace from the cache while it is decided that it waits: the event
// about that came too early to end the wait.
func TestGoneWhileWaiting(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid"}}
	ws.SetOwnership(commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "crossplane-leader-election-provider-terraform-a", Holder: "another"}})

	gauge := &waitingGauge{}
	informers := &informertest.FakeInformers{Scheme: scheme}
	i := &instance{o: &Options{}, mgr: cacheManager{cache: singleCache{FakeInformers: informers, ws: ws}}}
	i.claims = claim.New(shard.ID{}, "", &stubLeases{state: lease.Alive}, nil, fake.NewClientBuilder().WithScheme(scheme).WithObjects(ws).Build(), claim.Options{Locks: statelock.NewFailedRuns(), Recorder: event.NewNopRecorder(), Metrics: gauge})
	r := i.withClaims(stubScheduler{}, workspace.Kind{GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind, Object: &clusterv1beta1.Workspace{}})

	for _, want := range []int{1, 0} {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ws)}); err != nil {
			t.Fatal(err)
		}

		if gauge.waiting != want {
			t.Errorf("waiting: want %d, got %d", want, gauge.waiting)
		}

		i.mgr = cacheManager{cache: singleCache{FakeInformers: informers}}
	}
}

// TestReleased releases a Workspace that an unsharded instance waits for. It is settled, so that nothing
// else happens until its next poll.
func TestReleased(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid"}}
	claimed := ws.DeepCopy()
	claimed.SetOwnership(commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease", Holder: "another"}})

	gauge := &waitingGauge{}
	i := &instance{o: &Options{}}
	i.claims = claim.New(shard.ID{}, "", &stubLeases{state: lease.Alive}, nil, fake.NewClientBuilder().WithScheme(scheme).WithObjects(claimed).Build(), claim.Options{Locks: statelock.NewFailedRuns(), Recorder: event.NewNopRecorder(), Metrics: gauge})
	r := i.withClaims(stubScheduler{waits: true}, workspace.Kind{GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind, Object: &clusterv1beta1.Workspace{}})

	for _, step := range []struct {
		reason string
		cached *clusterv1beta1.Workspace
		want   waitingGauge
	}{
		{reason: "A shard has claimed it.", cached: claimed, want: waitingGauge{waiting: 1}},
		{reason: "The shard has released it.", cached: ws, want: waitingGauge{handedOff: 1}},
		{reason: "It did not wait any more.", cached: ws, want: waitingGauge{handedOff: 1}},
	} {
		i.mgr = cacheManager{cache: singleCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, ws: step.cached}}

		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ws)}); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(step.want, *gauge, cmp.AllowUnexported(waitingGauge{})); diff != "" {
			t.Errorf("%s\nmetrics: -want, +got:\n%s", step.reason, diff)
		}
	}
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

			i := &instance{o: &Options{}, mgr: cacheManager{cache: singleCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, ws: cached}}, claims: claim.New(shard.ID{}, "", nil, nil, kube, claim.Options{Metrics: metrics.New(nil)})}
			kind := workspace.Kind{GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind, Object: &clusterv1beta1.Workspace{}}

			r := i.withClaims(stubScheduler{managed: statusclient.NewClient(kube, nil), waits: tc.waits}, kind)

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

// TestReadsWhileWaiting counts the requests of an unsharded instance for a Workspace that a shard has
// claimed.
func TestReadsWhileWaiting(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	ws, requests := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid"}}, 0
	cached := singleCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, ws: ws}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			requests++

			return cached.Get(ctx, key, o, opts...)
		},
	}).Build()

	leases, gauge := &stubLeases{}, &waitingGauge{}
	i := &instance{o: &Options{}, mgr: cacheManager{cache: cached}}
	i.claims = claim.New(shard.ID{}, "", leases, nil, kube, claim.Options{Locks: statelock.NewFailedRuns(), Recorder: event.NewNopRecorder(), Metrics: gauge, RetryPeriod: time.Second})
	r := i.withClaims(stubScheduler{managed: statusclient.NewClient(kube, nil)}, workspace.Kind{GroupVersionKind: clusterv1beta1.WorkspaceGroupVersionKind, Object: &clusterv1beta1.Workspace{}})

	type want struct {
		Requests, Waiting, HandedOff int

		// Again says that the Workspace is checked again after five to ten retry periods.
		Again bool
	}

	for _, step := range []struct {
		reason string
		holder string
		state  lease.State
		want   want
	}{
		{reason: "The first decision is for the latest version.", holder: "b", state: lease.Alive, want: want{Requests: 1, Waiting: 1, Again: true}},
		{reason: "A change of the claim would be an event.", holder: "b", state: lease.Alive, want: want{Waiting: 1, Again: true}},
		{reason: "Its Lease cannot be read.", holder: "b", state: lease.Unknown, want: want{Waiting: 1, Again: true}},
		{reason: "Another instance has claimed it.", holder: "c", state: lease.Alive, want: want{Waiting: 1, Again: true}},
		{reason: "Only a read from the API server proves that there is no other claim.", holder: "c", state: lease.Dead, want: want{Requests: 1, HandedOff: 1}},
		{reason: "It does not wait any more.", holder: "c", state: lease.Dead, want: want{Requests: 1, HandedOff: 1}},
	} {
		requests, leases.state = 0, step.state
		ws.SetOwnership(commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease", Holder: step.holder}})

		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ws)})
		if err != nil {
			t.Fatal(err)
		}

		got := want{Requests: requests, Waiting: gauge.waiting, HandedOff: gauge.handedOff, Again: result.RequeueAfter >= 5*time.Second && result.RequeueAfter <= 10*time.Second}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s\nReconcile(...): -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestIsServed ensures that an instance may be working on a Workspace if it has claimed it and is
// not known to be dead. This is true on its host only.
func TestIsServed(t *testing.T) {
	t.Parallel()

	const me, other, dead = "pod-0_me", "pod-1_other", "pod-1_dead"

	const name = "crossplane-leader-election-provider-terraform-b"

	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       new(other),
			LeaseDurationSeconds: new(int32(60)),
			RenewTime:            &metav1.MicroTime{Time: time.Now()},
		},
	}
	// The Lease names its earlier holder, which is dead.
	held.SetAnnotations(map[string]string{"terraform.crossplane.io/holders": other + "," + dead})

	cases := map[string]struct {
		reason string
		claim  *commonv1beta1.Claim
		host   string
		want   bool
	}{
		"Alive":     {reason: "It may have locked the state.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: other}, host: "pod-1", want: true},
		"OtherHost": {reason: "It is on another host.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: other}, host: "pod-2"},
		"Itself":    {reason: "This instance knows its own work.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: me}, host: "pod-0"},
		"Dead":      {reason: "Its successor holds the Lease.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: dead}, host: "pod-1"},
		"Unknown":   {reason: "It may be alive: its Lease was deleted.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "gone", Holder: other}, host: "pod-1", want: true},
		"NoClaim":   {reason: "No instance has claimed it.", host: "pod-1"},
	}

	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			t.Parallel()

			kube := fake.NewClientBuilder().WithObjects(held.DeepCopy()).Build()
			timing := lease.Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 5 * time.Second}
			i := &instance{identity: me, claims: &claim.Claims{}, leases: lease.NewObserver(kube, "ns", timing, logging.NewNopLogger())}

			ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
			ws.SetOwnership(commonv1beta1.Ownership{Claim: tc.claim})

			if got := i.isServed(t.Context(), ws, tc.host); got != tc.want {
				t.Errorf("\n%s\nisServed(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
