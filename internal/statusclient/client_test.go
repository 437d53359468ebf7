// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const shardLabel = "example.org/shard"

// clients returns one that talks to the API server and one that reads from a cache
// of shard a.
func clients(t *testing.T) (live, cached client.Client) {
	t.Helper()

	cfg := apiserver.Start(t, "../../package/crds")
	live = apiserver.Client(t, cfg)

	c, err := cache.New(cfg, cache.Options{Scheme: live.Scheme(), ByObject: map[client.Object]cache.ByObject{
		&clusterv1beta1.Workspace{}: {Label: labels.SelectorFromSet(labels.Set{shardLabel: "a"})},
	}})
	if err != nil {
		t.Fatal(err)
	}

	background.Run(t, c.Start)

	cached, err = client.New(cfg, client.Options{Scheme: live.Scheme(), Cache: &client.CacheOptions{Reader: c}})
	if err != nil {
		t.Fatal(err)
	}

	return live, cached
}

func TestClient(t *testing.T) {
	live, cached := clients(t)
	c := NewClient(cached, live, live.Scheme(), clusterv1beta1.WorkspaceGroupVersionKind)

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "moving", Labels: map[string]string{shardLabel: "a"}}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

	if err := live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	key := client.ObjectKeyFromObject(ws)
	inFlight := &clusterv1beta1.Workspace{}

	// The reconciler reads the Workspace from the cache of its shard ...
	eventually(t, "the cache holds the Workspace", func() bool { return c.Get(t.Context(), key, inFlight) == nil })

	// ... and while it works, the Workspace moves to another shard.
	ws.SetLabels(map[string]string{shardLabel: "b"})

	if err := live.Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	eventually(t, "the cache no longer holds the Workspace", func() bool {
		return kerrors.IsNotFound(cached.Get(t.Context(), key, &clusterv1beta1.Workspace{}))
	})

	t.Run("Get", func(t *testing.T) {
		got := &clusterv1beta1.Workspace{}
		if err := c.Get(t.Context(), key, got); err != nil {
			t.Fatalf("Get(...) of a Workspace that left the cache: %v", err)
		}

		if diff := cmp.Diff(ws.GetUID(), got.GetUID()); diff != "" {
			t.Errorf("Get(...): -want UID, +got UID:\n%s", diff)
		}

		if diff := cmp.Diff(clusterv1beta1.WorkspaceGroupVersionKind, got.GroupVersionKind()); diff != "" {
			t.Errorf("Get(...): -want kind, +got kind:\n%s", diff)
		}
	})

	t.Run("StatusUpdate", func(t *testing.T) {
		inFlight.SetConditions(xpv2.Available())

		if err := c.Status().Update(t.Context(), inFlight); err != nil {
			t.Fatalf("Status().Update(...) of a Workspace that was changed meanwhile: %v", err)
		}

		got := &clusterv1beta1.Workspace{}
		if err := live.Get(t.Context(), key, got); err != nil {
			t.Fatal(err)
		}

		if got.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonAvailable {
			t.Errorf("Status().Update(...): status was not recorded: %+v", got.Status)
		}

		if diff := cmp.Diff(map[string]string{shardLabel: "b"}, got.GetLabels()); diff != "" {
			t.Errorf("Status().Update(...): -want labels, +got labels:\n%s", diff)
		}
	})

	t.Run("UnchangedStatus", func(t *testing.T) { testUnchanged(t, live, cached) })

	t.Run("OtherKinds", func(t *testing.T) {
		other := NewClient(cached, live, live.Scheme())
		if err := other.Get(t.Context(), key, &clusterv1beta1.Workspace{}); !kerrors.IsNotFound(err) {
			t.Errorf("Get(...) of a kind that is not covered: want NotFound, got %v", err)
		}
	})
}

// A counter counts status updates that reach the API server. Its cache may be stopped.
type counter struct {
	client.Client

	updates int
	stopped *clusterv1beta1.Workspace
}

func (c *counter) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if ws, ok := o.(*clusterv1beta1.Workspace); ok && c.stopped != nil {
		c.stopped.DeepCopyInto(ws)

		return nil
	}

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

// testUnchanged updates a status with what it is. That costs a request only where the
// cache may not tell what it is.
func testUnchanged(t *testing.T, live, cached client.Client) {
	t.Helper()

	n := &counter{Client: cached}
	c := NewClient(n, live, live.Scheme(), clusterv1beta1.WorkspaceGroupVersionKind)

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "unchanged", Labels: map[string]string{shardLabel: "a"}}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

	if err := live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	key := client.ObjectKeyFromObject(ws)
	read := func() *clusterv1beta1.Workspace {
		o := &clusterv1beta1.Workspace{}

		eventually(t, "the cache has caught up", func() bool {
			return cached.Get(t.Context(), key, o) == nil && o.GetResourceVersion() == ws.GetResourceVersion()
		})

		return o
	}
	update := func(o *clusterv1beta1.Workspace) int {
		t.Helper()

		before := n.updates

		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}

		return n.updates - before
	}
	expectReady := func(want xpv2.ConditionReason) {
		t.Helper()

		if err := live.Get(t.Context(), key, ws); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, ws.GetCondition(xpv2.TypeReady).Reason); diff != "" {
			t.Errorf("reason of Ready: -want, +got:\n%s", diff)
		}
	}

	o := read()
	old := o.DeepCopy()
	o.SetConditions(xpv2.Available())

	if diff := cmp.Diff(1, update(o)); diff != "" {
		t.Errorf("updates with something new: -want, +got:\n%s", diff)
	}

	expectReady(xpv2.ReasonAvailable)

	o = read()
	o.SetConditions(xpv2.Available())

	if diff := cmp.Diff(0, update(o)); diff != "" {
		t.Errorf("updates with nothing new: -want, +got:\n%s", diff)
	}

	// The status is not what it was, although the object has not been changed since it
	// was read.
	if diff := cmp.Diff(true, update(old) > 0); diff != "" {
		t.Errorf("updates with something old: -want, +got:\n%s", diff)
	}

	expectReady("")

	// What was said in the middle of a reconcile does not stay because the end of it is
	// like the beginning.
	o = read()
	n.stopped = o.DeepCopy()
	said := o.DeepCopy()
	said.SetConditions(xpv2.Creating())
	update(said)
	update(o)
	expectReady("")
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()

	if err := wait.UntilTrue(t.Context(), what, condition); err != nil {
		t.Fatal(err)
	}
}
