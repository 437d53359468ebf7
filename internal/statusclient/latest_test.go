// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// testLatest ensures that an object that was read just now is not requested again, except after
// its first use: the second Get is the one after a conflict.
func testLatest(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)
	ws, other := create(t, live, "latest"), create(t, live, "other")
	ctx := WithLatest(t.Context(), ws)

	changed := ws.DeepCopy()
	changed.SetLabels(map[string]string{"example.org/changed": "true"})

	if err := live.Update(ctx, changed); err != nil {
		t.Fatal(err)
	}

	get := func(ctx context.Context, name string) client.Object {
		t.Helper()

		o := &clusterv1beta1.Workspace{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
			t.Fatalf("Get(...): %v", err)
		}

		if diff := cmp.Diff(clusterv1beta1.WorkspaceGroupVersionKind, o.GroupVersionKind()); diff != "" {
			t.Errorf("Get(...): -want kind, +got kind:\n%s", diff)
		}

		return o
	}

	if err := c.Get(ctx, client.ObjectKeyFromObject(ws), &namespacedv1beta1.Workspace{}); err == nil {
		t.Error("Get(...) of another kind: want an error")
	}

	for _, tc := range []struct {
		reason string
		ctx    context.Context //nolint:containedctx // It is the argument.
		name   string
		want   string
	}{
		{reason: "It is another Workspace.", ctx: ctx, name: other.GetName(), want: other.GetResourceVersion()},
		{reason: "It is another reconcile.", ctx: t.Context(), name: ws.GetName(), want: changed.GetResourceVersion()},
		{reason: "It was read just now.", ctx: ctx, name: ws.GetName(), want: ws.GetResourceVersion()},
		{reason: "It was used.", ctx: ctx, name: ws.GetName(), want: changed.GetResourceVersion()},
	} {
		if got := get(tc.ctx, tc.name).GetResourceVersion(); got != tc.want {
			t.Errorf("%s\nGet(...): want version %s, got %s", tc.reason, tc.want, got)
		}
	}

	// The reconciler in front still uses its copy.
	ctx = WithLatest(t.Context(), ws)
	get(ctx, ws.GetName()).GetLabels()[shardLabel] = "b"

	if ws.GetLabels()[shardLabel] != "a" {
		t.Error("Get(...): want a copy of the object")
	}
}
