// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const shardLabel = "example.org/shard"

// clients returns one that talks to the API server and one that reads from a cache
// of shard a.
func clients(t *testing.T) (live client.Client, cached client.Reader) {
	t.Helper()

	cfg := apiserver.Start(t, "../../package/crds")
	live = apiserver.Client(t, cfg)

	c, err := cache.New(cfg, cache.Options{Scheme: live.Scheme(), DefaultTransform: cache.TransformStripManagedFields(), ByObject: map[client.Object]cache.ByObject{
		&clusterv1beta1.Workspace{}: {Label: labels.SelectorFromSet(labels.Set{shardLabel: "a"})},
	}})
	if err != nil {
		t.Fatal(err)
	}

	background.Run(t, c.Start)

	return live, c
}

func TestClient(t *testing.T) {
	live, cached := clients(t)

	t.Run("Kind", func(t *testing.T) { testKind(t, live, cached) })
	t.Run("Latest", func(t *testing.T) { testLatest(t, live, cached) })
	t.Run("WrittenThenPatched", func(t *testing.T) { testWrittenThenPatched(t, live, cached) })
	t.Run("ReplacedBefore", func(t *testing.T) { testReplacedBefore(t, live, cached) })
	t.Run("StatusAfterMove", func(t *testing.T) { testStatusAfterMove(t, live, cached) })
	t.Run("Replaced", func(t *testing.T) { testReplaced(t, live, cached) })
	t.Run("WriteKeepsStatus", func(t *testing.T) { testWriteKeepsStatus(t, live, cached) })
	t.Run("PatchKeepsGeneration", func(t *testing.T) { testPatchKeepsGeneration(t, live, cached) })
	t.Run("StatusKeepsObject", func(t *testing.T) { testStatusKeepsObject(t, live, cached) })
	t.Run("Taken", func(t *testing.T) { testTaken(t, live, cached) })
	t.Run("Unchanged", func(t *testing.T) { testUnchanged(t, live, cached) })
	t.Run("Ownership", func(t *testing.T) { testOwnership(t, live, cached) })
}

// testKind ensures that a Workspace that was read has its kind.
func testKind(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	ws, got := create(t, live, "kind"), &clusterv1beta1.Workspace{}
	if err := NewClient(live, cached).Get(t.Context(), client.ObjectKeyFromObject(ws), got); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(clusterv1beta1.WorkspaceGroupVersionKind, got.GroupVersionKind()); diff != "" {
		t.Errorf("Get(...): -want kind, +got kind:\n%s", diff)
	}
}

// testStatusAfterMove writes the status of a Workspace that has left the cache: a person has
// moved it to another shard in the meantime.
func testStatusAfterMove(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)

	ws := create(t, live, "moving")
	inFlight := ws.DeepCopy()

	ws.SetLabels(map[string]string{shardLabel: "b"})

	if err := live.Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	inFlight.SetConditions(xpv2.Available())

	if err := c.Status().Update(t.Context(), inFlight); err != nil {
		t.Fatalf("Status().Update(...) of a Workspace that was changed meanwhile: %v", err)
	}

	got := read(t, live, ws)
	if got.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonAvailable {
		t.Errorf("Status().Update(...): status was not recorded: %+v", got.Status)
	}

	if diff := cmp.Diff(map[string]string{shardLabel: "b"}, got.GetLabels()); diff != "" {
		t.Errorf("Status().Update(...): -want labels, +got labels:\n%s", diff)
	}
}

// testReplaced ensures that the status of a Workspace is not written to another one of the same
// name.
func testReplaced(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)

	old := create(t, live, "replaced")
	if err := live.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}

	replacement := create(t, live, "replaced")

	old.SetConditions(xpv2.Available())

	if err := c.Status().Update(t.Context(), old); err == nil {
		t.Error("Status().Update(...) of a Workspace that is gone: want an error")
	}

	if got := read(t, live, replacement).GetCondition(xpv2.TypeReady).Status; got == corev1.ConditionTrue {
		t.Error("Status().Update(...): the status was written to another Workspace")
	}
}

// testWriteKeepsStatus ensures that neither an update nor a patch of a Workspace loses a status
// that was not written yet. The claim comes from the API server.
func testWriteKeepsStatus(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)

	cases := map[string]struct {
		reason string
		write  func(ws *clusterv1beta1.Workspace) error
	}{
		"Update": {
			reason: "The managed reconciler adds a finalizer after Observe.",
			write: func(ws *clusterv1beta1.Workspace) error {
				ws.SetFinalizers([]string{"example.org/f"})

				return c.Update(t.Context(), ws)
			},
		},
		"Patch": {
			reason: "It records the end of a creation after Create.",
			write: func(ws *clusterv1beta1.Workspace) error {
				return c.Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": ["example.org/f"]}}`)))
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := create(t, live, "kept-"+strings.ToLower(name))

			mine := &commonv1beta1.Claim{Holder: "host-0_5ad8"}
			ws.SetOwnership(commonv1beta1.Ownership{Claim: mine})

			// The ownership is written independently.
			claimed := ws.DeepCopy()
			claimed.SetOwnership(commonv1beta1.Ownership{Claim: mine, PreviousHosts: []string{"host-1"}})

			if err := live.Status().Update(t.Context(), claimed); err != nil {
				t.Fatal(err)
			}

			ws.SetResourceVersion(claimed.GetResourceVersion())
			ws.SetConditions(xpv2.Available())

			if err := tc.write(ws); err != nil {
				t.Fatal(err)
			}

			latest := read(t, live, ws)
			got := []any{ws.GetCondition(xpv2.TypeReady).Reason, ws.GetOwnership(), ws.GetFinalizers(), ws.GetResourceVersion()}
			want := []any{xpv2.ReasonAvailable, claimed.GetOwnership(), []string{"example.org/f"}, latest.GetResourceVersion()}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nreason of Ready, ownership, finalizers, version: -want, +got:\n%s", tc.reason, diff)
			}

			if err := c.Status().Update(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(xpv2.ReasonAvailable, read(t, live, ws).GetCondition(xpv2.TypeReady).Reason); diff != "" {
				t.Errorf("\n%s\nreason of Ready in the API server: -want, +got:\n%s", tc.reason, diff)
			}

			// Another instance has claimed it in the meantime.
			taken := read(t, live, ws)
			taken.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Holder: "host-1_1f33"}})

			if err := live.Status().Update(t.Context(), taken); err != nil {
				t.Fatal(err)
			}

			for _, err := range []error{tc.write(ws), c.Status().Update(t.Context(), ws)} {
				if !kerrors.IsConflict(err) {
					t.Errorf("\n%s\na write to a Workspace that another instance has claimed: want a conflict, got %v", tc.reason, err)
				}
			}
		})
	}
}

// testPatchKeepsGeneration has a Workspace whose specification was changed in the meantime. It
// must not count as reconciled with the change.
func testPatchKeepsGeneration(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	ws := create(t, live, "generation")
	changed := ws.DeepCopy()
	changed.Spec.ForProvider.Module = "# changed"

	if err := live.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}

	if err := NewClient(live, cached).Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"example.org/a": "b"}}}`))); err != nil {
		t.Fatal(err)
	}

	if changed.GetGeneration() == ws.GetGeneration() || ws.Spec.ForProvider.Module != "" {
		t.Errorf("Patch(...): want the generation and the module that were read, got %d and %q", ws.GetGeneration(), ws.Spec.ForProvider.Module)
	}
}

// testStatusKeepsObject ensures that a Workspace whose specification was changed in the
// meantime does not count as reconciled with the change, and that the change is not reverted.
func testStatusKeepsObject(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)
	ws := create(t, live, "status")
	changed := ws.DeepCopy()
	changed.Spec.ForProvider.Module = "# changed"

	if err := live.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		ws.SetConditions(xpv2.Available())

		if err := c.Status().Update(t.Context(), ws); err != nil {
			t.Fatal(err)
		}

		if changed.GetGeneration() == ws.GetGeneration() || ws.Spec.ForProvider.Module != "" {
			t.Errorf("Status().Update(...): want the generation and the module that were read, got %d and %q", ws.GetGeneration(), ws.Spec.ForProvider.Module)
		}
	}

	if err := c.Update(t.Context(), ws); !kerrors.IsConflict(err) {
		t.Errorf("Update(...) of a Workspace that was changed meanwhile: want a conflict, got %v", err)
	}

	got := read(t, live, ws)
	if diff := cmp.Diff([]any{"# changed", xpv2.ReasonAvailable}, []any{got.Spec.ForProvider.Module, got.GetCondition(xpv2.TypeReady).Reason}); diff != "" {
		t.Errorf("module and reason of Ready in the API server: -want, +got:\n%s", diff)
	}

	// Without such a change the next update is not refused.
	c.Get(t.Context(), client.ObjectKeyFromObject(ws), ws) //nolint:errcheck // The update would fail.
	ws.SetConditions(xpv2.Creating())

	if err := errors.Join(c.Status().Update(t.Context(), ws), c.Update(t.Context(), ws)); err != nil {
		t.Errorf("Update(...) after Status().Update(...): %v", err)
	}
}

// testUnchanged updates a status without a change. That costs a request only if the cache is
// behind.
func testUnchanged(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	n := &counter{Client: live}
	c := NewClient(n, cached)

	ws := create(t, live, "unchanged")
	caughtUp := func() *clusterv1beta1.Workspace {
		t.Helper()

		latest := read(t, live, ws)

		if err := wait.UntilTrue(t.Context(), "the cache has caught up", func() bool {
			o := &clusterv1beta1.Workspace{}

			return cached.Get(t.Context(), client.ObjectKeyFromObject(ws), o) == nil && o.GetResourceVersion() == latest.GetResourceVersion()
		}); err != nil {
			t.Fatal(err)
		}

		return latest
	}
	expect := func(reason string, want int, o *clusterv1beta1.Workspace) {
		t.Helper()

		before := n.updates

		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}

		if got := n.updates - before; got != want {
			t.Errorf("%s\nupdates: want %d, got %d", reason, want, got)
		}
	}

	o := caughtUp()
	old := o.DeepCopy()
	o.SetConditions(xpv2.Available())
	expect("The status has changed.", 1, o)

	o = caughtUp()
	o.SetConditions(xpv2.Available())
	expect("The status has not changed.", 0, o)
	expect("The stored status has changed since the read, but this update does not.", 2, old)

	if got := read(t, live, ws).GetCondition(xpv2.TypeReady).Reason; got != "" {
		t.Errorf("want the status that was written last, got reason %q", got)
	}

	// The cache may be behind a write in the middle of a reconcile.
	o = caughtUp()
	n.updates = 0
	changed := o.DeepCopy()
	changed.SetConditions(xpv2.Creating())
	expect("The status has changed.", 1, changed)
	changed.Status = o.Status
	expect("The status is the same as at the beginning, but was different in between.", 1, changed)

	if got := read(t, live, ws).GetCondition(xpv2.TypeReady).Reason; got != "" {
		t.Errorf("want the status that was written last, got reason %q", got)
	}
}

// testTaken updates the status of a Workspace that another instance has claimed in the meantime. One
// read shows that, so that the update is not repeated.
func testTaken(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	n := &counter{Client: live}
	ws := create(t, live, "taken")

	taken := ws.DeepCopy()
	taken.SetOwnership(commonv1beta1.Ownership{Claim: &commonv1beta1.Claim{Holder: "host-1_1f33"}})

	if err := live.Status().Update(t.Context(), taken); err != nil {
		t.Fatal(err)
	}

	ws.SetConditions(xpv2.Available())

	// The managed reconciler logs no conflict, and requeues.
	if err := NewClient(n, cached).Status().Update(t.Context(), ws); !kerrors.IsConflict(errors.Cause(err)) {
		t.Errorf("Status().Update(...): want a conflict, got %v", err)
	}

	if diff := cmp.Diff([]int{1, 1}, []int{n.updates, n.gets}); diff != "" {
		t.Errorf("Status().Update(...): -want updates and reads, +got:\n%s", diff)
	}
}

// A counter counts the reads of objects and the updates of statuses.
type counter struct {
	client.Client

	gets, updates int
}

func (c *counter) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	c.gets++

	return c.Client.Get(ctx, key, o, opts...)
}

func (c *counter) Status() client.SubResourceWriter {
	return &countingWriter{SubResourceWriter: c.Client.Status(), counter: c}
}

type countingWriter struct {
	client.SubResourceWriter

	counter *counter
}

func (w *countingWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	w.counter.updates++

	return w.SubResourceWriter.Update(ctx, o, opts...)
}

// create a Workspace in shard a.
func create(t *testing.T, c client.Client, name string) *clusterv1beta1.Workspace {
	t.Helper()

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{shardLabel: "a"}}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

	if err := c.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

// read a Workspace from the API server.
func read(t *testing.T, c client.Client, o client.Object) *clusterv1beta1.Workspace {
	t.Helper()

	ws := &clusterv1beta1.Workspace{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}
