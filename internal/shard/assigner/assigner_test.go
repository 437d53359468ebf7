// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// stubLeases are the shards. One that is held was seen to renew its Lease.
type stubLeases struct {
	mu     sync.Mutex
	shards map[string]session.Presence
}

func (l *stubLeases) Shards() (map[string]session.Presence, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return maps.Clone(l.shards), l.shards != nil
}

func (l *stubLeases) set(held bool, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.shards == nil {
		l.shards = map[string]session.Presence{}
	}

	for _, name := range names {
		l.shards[name] = session.Presence{Alive: held, Renewed: held}
	}
}

type stubMetrics struct{ moved atomic.Int64 }

func (*stubMetrics) Members(int) {}
func (m *stubMetrics) Moved()    { m.moved.Add(1) }

// A fixture is an API server with the CRDs of Workspaces, and some shards. Each of the tests has
// it to itself: an assigner works on all Workspaces of its API server.
type fixture struct {
	cfg    *rest.Config
	kube   client.Client
	leases *stubLeases
	moved  *stubMetrics
	grace  time.Duration
	log    logr.Logger
}

func newFixture(t *testing.T, cfg *rest.Config) *fixture {
	t.Helper()

	f := &fixture{cfg: cfg, kube: apiserver.Client(t, cfg), leases: &stubLeases{}, moved: &stubMetrics{}, grace: time.Second, log: logr.Discard()}

	t.Cleanup(func() { f.clear(t) })

	return f
}

// clear deletes what the next test must not find.
func (f *fixture) clear(t *testing.T) {
	t.Helper()

	all := []client.Object{&coordinationv1.Lease{}}

	for _, kind := range workspace.GroupVersionKinds() {
		ws := &unstructured.Unstructured{}
		ws.SetGroupVersionKind(kind)

		all = append(all, ws)
	}

	for _, o := range all {
		// The namespace of a kind that has none is ignored.
		if err := f.kube.DeleteAllOf(context.WithoutCancel(t.Context()), o, client.InNamespace(corev1.NamespaceDefault)); err != nil {
			t.Error(err)
		}
	}
}

// start an assigner. The function it returns stops it.
func (f *fixture) start(t *testing.T, identity string, hook apiserver.Hook) func() {
	t.Helper()

	cfg := f.cfg
	if hook != nil {
		cfg = apiserver.Through(cfg, hook)
	}

	kube := apiserver.Client(t, cfg)

	a := &Assigner{
		Config:    cfg,
		Namespace: corev1.NamespaceDefault,
		Identity:  identity,
		Kinds:     workspace.GroupVersionKinds(),
		Live:      kube,
		Kube:      kube,
		Leases:    f.leases,
		Grace:     f.grace,
		Rate:      1000,
		Metrics:   f.moved,
		Log:       logging.NewNopLogger(),
	}

	return background.Run(t, func(ctx context.Context) error { return a.Start(logr.NewContext(ctx, f.log)) })
}

// create Workspaces of both kinds, in turn.
func (f *fixture) create(t *testing.T, n int, labels map[string]string) []*unstructured.Unstructured {
	t.Helper()

	kinds := workspace.GroupVersionKinds()

	var all []*unstructured.Unstructured

	for i := range n {
		ws := apiserver.Workspace(kinds[i%len(kinds)], "")
		ws.SetLabels(labels)

		if err := f.kube.Create(t.Context(), ws); err != nil {
			t.Fatal(err)
		}

		all = append(all, ws)
	}

	return all
}

// labels of all Workspaces, by UID.
func (f *fixture) labels(ctx context.Context) (map[types.UID]map[string]string, error) {
	all := map[types.UID]map[string]string{}

	for _, kind := range workspace.GroupVersionKinds() {
		if _, err := listing.Each(ctx, f.kube, kind, func(o *metav1.PartialObjectMetadata) error {
			all[o.GetUID()] = o.GetLabels()

			return nil
		}); err != nil {
			return nil, err
		}
	}

	return all, nil
}

// expect waits until each of the Workspaces is assigned to one of the members, and the members have equal
// numbers of Workspaces.
func (f *fixture) expect(t *testing.T, all []*unstructured.Unstructured, members ...string) {
	t.Helper()
	f.expectCounts(t, all, 1, members...)
}

// expectCounts is expect for numbers that may differ by more.
func (f *fixture) expectCounts(t *testing.T, all []*unstructured.Unstructured, spread int, members ...string) {
	t.Helper()

	if err := wait.Until(t.Context(), wait.Patience, func() error {
		labels, err := f.labels(t.Context())
		if err != nil {
			return err
		}

		counts := map[string]int{}
		for _, l := range labels {
			counts[l[shard.LabelKey]]++
		}

		for _, ws := range all {
			got := labels[ws.GetUID()]
			if at := assignmentOf(ws.GetUID(), got); at.pinned || !slices.Contains(members, at.shard) {
				return errors.Errorf("Workspace %q has the labels %v, want one of %q", ws.GetName(), got, members)
			}
		}

		numbers := slices.Collect(maps.Values(countsOf(members, counts)))
		if slices.Max(numbers)-slices.Min(numbers) > spread {
			return errors.Errorf("Workspaces by shard: %v", counts)
		}

		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestAssigner runs the assigner on a real API server.
func TestAssigner(t *testing.T) {
	t.Parallel()

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml", "../../../package/crds/tf.m.upbound.io_workspaces.yaml")

	for _, tc := range []struct {
		name string
		test func(t *testing.T, f *fixture)
	}{
		{"Assign", testAssign},
		{"Unassignable", testUnassignable},
		{"Panic", testPanic},
		{"Away", testAway},
		{"PinnedMeanwhile", testPinnedMeanwhile},
		{"ChangedMeanwhile", testChangedMeanwhile},
		{"Failover", testFailover},
	} {
		// One after the other: see fixture.
		t.Run(tc.name, func(t *testing.T) { tc.test(t, newFixture(t, cfg)) })
	}
}

// testAssign follows Workspaces while shards join and leave.
func testAssign(t *testing.T, f *fixture) {
	t.Helper()

	early := f.create(t, 20, nil)
	f.start(t, "a", nil)

	// There is no shard yet.
	f.leases.set(false)
	pinned := f.create(t, 2, map[string]string{shard.LabelKey: "c"})
	lost := f.create(t, 2, map[string]string{shard.LabelKey: "none"})

	f.leases.set(true, "a", "b")
	f.expect(t, early, "a", "b")

	all := slices.Concat(early, f.create(t, 20, nil))
	f.expect(t, all, "a", "b")

	f.leases.set(true, "c")
	f.expect(t, all, "a", "b", "c")

	f.leases.set(false, "a")
	f.expect(t, all, "b", "c")

	f.leases.set(true, "a")
	f.expect(t, all, "a", "b", "c")

	labels, err := f.labels(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for _, ws := range slices.Concat(pinned, lost) {
		if got := labels[ws.GetUID()]; len(got) != 1 || got[shard.LabelKey] != ws.GetLabels()[shard.LabelKey] {
			t.Errorf("a Workspace that a person has pinned to %q has the labels %v", ws.GetLabels()[shard.LabelKey], got)
		}
	}
}

// testUnassignable has a Workspace that cannot be changed. All others move.
func testUnassignable(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.set(true, "a")

	all := f.create(t, 30, nil)
	members := []string{"a", "b"}

	// It is the first one to move.
	stuck := slices.Index(all, slices.MaxFunc(all, func(x, y *unstructured.Unstructured) int {
		return cmp.Compare(score(x.GetUID(), "b"), score(y.GetUID(), "b"))
	}))

	var refusing atomic.Bool

	f.start(t, "a", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPatch && refusing.Load() && strings.HasSuffix(r.URL.Path, "/"+all[stuck].GetName()) {
			return nil, errors.New("refused by a policy")
		}

		return next.RoundTrip(r)
	})

	f.expect(t, all, "a")
	refusing.Store(true)
	f.leases.set(true, "b")
	f.expectCounts(t, all, 2, members...)

	refusing.Store(false)
	f.expect(t, all, members...)
}

// testPanic has a Workspace whose first write panics. It is assigned nevertheless, and the panic is
// in the log.
func testPanic(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.set(true, "a")

	var (
		once   sync.Once
		logged atomic.Bool
	)

	f.log = funcr.New(func(_, line string) {
		if strings.Contains(line, "a bug") {
			logged.Store(true)
		}
	}, funcr.Options{})

	f.start(t, "a", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/workspaces/") {
			once.Do(func() { panic("a bug") })
		}

		return next.RoundTrip(r)
	})

	f.expect(t, f.create(t, 1, nil), "a")

	if !logged.Load() {
		t.Error("want the panic in the log")
	}
}

// testAway takes over while a shard is away. It keeps what it has, gets nothing, and gets its
// share back.
func testAway(t *testing.T, f *fixture) {
	t.Helper()

	f.grace = time.Hour
	f.leases.set(true, "a", "b")

	before := f.create(t, 10, nil)
	stop := f.start(t, "first", nil)
	f.expect(t, before, "a", "b")
	stop()

	f.leases.set(false, "b")
	f.start(t, "second", nil)

	after := f.create(t, 10, nil)
	f.expectCounts(t, after, 0, "a")
	f.expectCounts(t, before, 10, "a", "b")

	f.leases.set(true, "b")
	f.expect(t, slices.Concat(before, after), "a", "b")
}

// testPinnedMeanwhile changes the label of a Workspace between the decision of the assigner and
// its write. What the person has written stays.
func testPinnedMeanwhile(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.set(true, "a")

	var (
		once sync.Once
		ws   *unstructured.Unstructured
	)

	ready := make(chan struct{})

	f.start(t, "a", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/workspaces/") {
			<-ready
			once.Do(func() {
				pinned := ws.DeepCopy()
				pinned.SetLabels(map[string]string{shard.LabelKey: "mine"})

				if err := f.kube.Patch(r.Context(), pinned, client.MergeFrom(ws)); err != nil {
					t.Error(err)
				}
			})
		}

		return next.RoundTrip(r)
	})

	ws = f.create(t, 1, nil)[0]

	close(ready)

	// The next one shows that the assigner has got over the first one.
	f.expect(t, f.create(t, 2, nil), "a")

	labels, err := f.labels(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if got := labels[ws.GetUID()]; got[shard.LabelKey] != "mine" || len(got) != 1 {
		t.Errorf("want the label that the person has written, got %v", got)
	}
}

// testChangedMeanwhile changes assigned Workspaces between the decision to move them and the write,
// as the instances that serve them do. They are moved nevertheless.
func testChangedMeanwhile(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.set(true, "a")

	all := f.create(t, 10, nil)

	var (
		moving  atomic.Bool
		changed sync.Map
	)

	f.start(t, "a", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPatch && moving.Load() {
			for _, ws := range all {
				if !strings.HasSuffix(r.URL.Path, "/"+ws.GetName()) {
					continue
				}

				if _, known := changed.LoadOrStore(ws.GetName(), true); known {
					continue
				}

				if err := f.kube.Patch(r.Context(), ws.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))); err != nil {
					t.Error(err)
				}
			}
		}

		return next.RoundTrip(r)
	})

	f.expect(t, all, "a")
	moving.Store(true)
	f.leases.set(true, "b")
	f.expect(t, all, "a", "b")
}

// testFailover stops the assigner in the middle of its work. Another one continues it.
func testFailover(t *testing.T, f *fixture) {
	t.Helper()

	f.leases.set(true, "a", "b")

	all := f.create(t, 60, nil)
	half := make(chan struct{})

	var patches atomic.Int64

	stop := f.start(t, "first", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/workspaces/") && patches.Add(1) == 30 {
			close(half)
		}

		return next.RoundTrip(r)
	})

	<-half
	stop()

	f.start(t, "second", nil)
	f.expect(t, all, "a", "b")

	f.leases.set(true, "c")
	f.expect(t, all, "a", "b", "c")
}
