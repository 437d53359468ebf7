// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

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

	// What was written is known, until the write meets another one: the version of the result is not
	// the one that was reconciled.
	ctx = WithObject(t.Context(), ws)

	o, ok := get(ctx, ws.GetName()).(*clusterv1beta1.Workspace)
	if !ok || Written(ctx) != nil {
		t.Fatalf("Written(...) before a write: want nothing, got %v", Written(ctx))
	}

	for _, tc := range []struct {
		reason  string
		before  func()
		written bool
	}{
		{reason: "Nothing else has changed.", before: func() {}, written: true},
		{reason: "There was nothing to write.", before: func() {}, written: true},
		{reason: "A person has changed it.", before: func() { label(t, live, ws.GetName()); o.SetLastHandledReconcileAt("2") }},
	} {
		tc.before()
		o.SetConditions(xpv2.Available())

		if err := c.Status().Update(ctx, o); err != nil {
			t.Fatal(err)
		}

		if got := Written(ctx) != nil; got != tc.written {
			t.Errorf("%s\nWritten(...): want an object %t, got %t", tc.reason, tc.written, got)
		}
	}
}

// testWrittenThenPatched patches an object after an update of its status: what was written is not the
// latest version any more, and another instance may have claimed it.
func testWrittenThenPatched(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	ws := create(t, live, "patched")
	c, ctx := NewClient(live, cached), WithObject(t.Context(), ws)
	ws.SetConditions(xpv2.Available())

	if err := c.Status().Update(ctx, ws); err != nil || Written(ctx) == nil {
		t.Fatalf("Written(...) after an update: want an object, got %v and error %v", Written(ctx), err)
	}

	if err := c.Patch(ctx, ws, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))); err != nil {
		t.Fatal(err)
	}

	if got := Written(ctx); got != nil {
		t.Errorf("Written(...) after a patch: want nothing, got %v", got)
	}
}

// testReplacedBefore ensures that a reconcile does not get another object of the same name: it was decided
// to reconcile the one that was replaced.
func testReplacedBefore(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	c := NewClient(live, cached)
	before, other := create(t, live, "replaced-before"), create(t, live, "beside")

	if err := live.Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}

	after := create(t, live, "replaced-before")

	for _, tc := range []struct {
		reason string
		ctx    context.Context //nolint:containedctx // It is the argument.
		name   string
		want   bool
	}{
		{reason: "It has replaced the one that is reconciled.", ctx: WithObject(t.Context(), before), name: after.GetName()},
		{reason: "It is the one that is reconciled.", ctx: WithObject(t.Context(), after), name: after.GetName(), want: true},
		{reason: "It has another name.", ctx: WithObject(t.Context(), before), name: other.GetName(), want: true},
		{reason: "There is no reconcile.", ctx: t.Context(), name: after.GetName(), want: true},
	} {
		err := c.Get(tc.ctx, client.ObjectKey{Name: tc.name}, &clusterv1beta1.Workspace{})
		if got := err == nil; got != tc.want || client.IgnoreNotFound(err) != nil {
			t.Errorf("%s\nGet(...): want an object %t, got error %v", tc.reason, tc.want, err)
		}
	}
}

func label(t *testing.T, live client.Client, name string) {
	t.Helper()

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := live.Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"example.org/changed":"again"}}}`))); err != nil {
		t.Fatal(err)
	}
}
