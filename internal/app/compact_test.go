// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// received returns a Workspace as it comes from the API server.
func received(t *testing.T, managedFields bool) *clusterv1beta1.Workspace {
	t.Helper()

	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{
		Name:        "db",
		Labels:      map[string]string{shard.LabelKey: "a", "team": "data"},
		UID:         "uid",
		Annotations: map[string]string{meta.AnnotationKeyExternalName: "somebody", "note": "hello"},
		Finalizers:  []string{managed.FinalizerName},
	}}
	ws.SetOwnership(commonv1beta1.Ownership{
		Claim:         &commonv1beta1.Claim{Namespace: "leases", Lease: testShard(t).LeaseName(), Holder: "host-0_5ad8"},
		PreviousHosts: []string{"host-1"},
	})

	if managedFields {
		ws.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	}

	data, err := json.Marshal(ws)
	if err != nil {
		t.Fatal(err)
	}

	ws = &clusterv1beta1.Workspace{}
	if err := json.Unmarshal(data, ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

// places returns where in memory an object has its texts.
func places(ws *clusterv1beta1.Workspace) map[string]*byte {
	where := map[string]*byte{}

	for k, v := range ws.Annotations {
		where[k], where[v] = unsafe.StringData(k), unsafe.StringData(v)
	}

	for k, v := range ws.Labels {
		where[k], where[v] = unsafe.StringData(k), unsafe.StringData(v)
	}

	for _, f := range ws.Finalizers {
		where[f] = unsafe.StringData(f)
	}

	o := ws.GetOwnership()
	for _, s := range []string{o.Claim.Namespace, o.Claim.Lease, o.Claim.Holder, o.PreviousHosts[0]} {
		where[s] = unsafe.StringData(s)
	}

	return where
}

func testShard(t *testing.T) shard.ID {
	t.Helper()

	id, err := shard.Parse("a")
	if err != nil {
		t.Fatal(err)
	}

	return id
}

func TestCompact(t *testing.T) {
	t.Parallel()

	one, other := received(t, true), received(t, true)
	transform := compact(testShard(t), "leases", "host-0_5ad8")

	for _, ws := range []*clusterv1beta1.Workspace{one, other} {
		o, err := transform(ws)
		if err != nil || o != any(ws) {
			t.Fatalf("transform(...): want the object itself, got %v, error %v", o, err)
		}

		// Apart from who manages what, it says what it said before.
		if diff := cmp.Diff(received(t, false), ws); diff != "" {
			t.Errorf("transform(...): -want, +got:\n%s", diff)
		}
	}

	there := places(other)
	have := map[string]bool{}

	for text, at := range places(one) {
		have[text] = there[text] == at
	}

	want := map[string]bool{
		shard.LabelKey:                 true,
		meta.AnnotationKeyExternalName: true,
		managed.FinalizerName:          true,
		"a":                            true,
		"leases":                       true,
		testShard(t).LeaseName():       true,
		"host-0_5ad8":                  true,
		"host-1":                       false,
		"somebody":                     false,
		"team":                         false,
		"data":                         false,
		"note":                         false,
		"hello":                        false,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("whether a text is in memory once: -want, +got:\n%s", diff)
	}
}

// TestCompactCached looks at what must not be written to, because the cache has it.
func TestCompactCached(t *testing.T) {
	t.Parallel()

	ws := received(t, false)
	before := places(ws)

	for name, o := range map[string]any{"Compact": ws, "Tombstone": cache.DeletedFinalStateUnknown{Key: "db", Obj: ws}} {
		got, err := compact(testShard(t), "leases", "host-0_5ad8")(o)
		if diff := cmp.Diff(o, got); diff != "" || err != nil {
			t.Errorf("%s: transform(...): error %v, -want, +got:\n%s", name, err, diff)
		}
	}

	if diff := cmp.Diff(before, places(ws), cmp.Comparer(func(a, b *byte) bool { return a == b })); diff != "" {
		t.Errorf("what the cache has was written: -want, +got:\n%s", diff)
	}
}
