// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A laggingClient reads from a cache that stopped to receive changes. A real one lags
// for as long as it likes, but not when a test wants it to.
type laggingClient struct {
	client.Client

	has *clusterv1beta1.Workspace
}

func (c *laggingClient) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	ws, ok := o.(*clusterv1beta1.Workspace)
	if !ok {
		return errors.Errorf("a %T is no Workspace", o)
	}

	c.has.DeepCopyInto(ws)

	return nil
}

// TestLaggingCache reconciles twice while the cache has what was there before both.
func TestLaggingCache(t *testing.T) {
	live, _ := clients(t)

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "lagging"}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

	if err := live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	cached := &laggingClient{Client: live, has: ws.DeepCopy()}
	c := NewClient(cached, live, live.Scheme(), clusterv1beta1.WorkspaceGroupVersionKind)
	key := client.ObjectKeyFromObject(ws)

	// reconcile adds one to what the status has.
	reconcile := func(t *testing.T) {
		t.Helper()

		read := &clusterv1beta1.Workspace{}
		if err := c.Get(t.Context(), key, read); err != nil {
			t.Fatalf("Get(...): %v", err)
		}

		o := read.GetObservation()
		if o.State == nil {
			o.State = &commonv1beta1.StateSummary{}
		}

		o.State.Serial++
		read.SetObservation(o)

		if err := c.Status().Update(t.Context(), read); err != nil {
			t.Fatalf("Status().Update(...): %v", err)
		}
	}

	reconcile(t)
	reconcile(t)

	if err := live.Get(t.Context(), key, ws); err != nil {
		t.Fatal(err)
	}

	if s := ws.GetObservation().State; s.Serial != 2 {
		t.Errorf("a reconcile that starts before the cache has the status that the last one recorded must not lose it: want serial 2, got %d", s.Serial)
	}

	// Once the cache has caught up, it is read.
	cached.has = ws.DeepCopy()
	cached.has.SetLabels(map[string]string{"from": "cache"})

	read := &clusterv1beta1.Workspace{}
	if err := c.Get(t.Context(), key, read); err != nil {
		t.Fatalf("Get(...): %v", err)
	}

	if read.GetLabels()["from"] != "cache" {
		t.Error("Get(...): want what the cache has, as it is not older than what was recorded")
	}

	reconcile(t)

	if diff := cmp.Diff(1, len(c.recorded.m)); diff != "" {
		t.Fatalf("objects whose last status is recorded: -want, +got:\n%s", diff)
	}

	c.Forget(ws)

	if diff := cmp.Diff(0, len(c.recorded.m)); diff != "" {
		t.Errorf("Forget(...): -want, +got:\n%s", diff)
	}
}
