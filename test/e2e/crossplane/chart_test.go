// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRender checks that the values, the built-in objects and the named templates of a chart are those of Helm,
// that the order is Helm's, and that the text for users is left out.
func TestRender(t *testing.T) {
	t.Parallel()

	objects, err := Render("testdata/chart", map[string]any{"image": map[string]any{"repository": "10.123.0.1:5000/crossplane/crossplane", "tag": "e2e"}})
	if err != nil {
		t.Fatal(err)
	}

	var got []map[string]any
	for _, o := range objects {
		got = append(got, o.Object)
	}

	want := []map[string]any{
		{
			"apiVersion": "v1",
			"kind":       "ServiceAccount",
			"metadata":   map[string]any{"name": "crossplane", "namespace": Namespace},
		},
		{
			"apiVersion": "apps/v1",
			"kind":       "Deployment",
			"metadata":   map[string]any{"name": "crossplane", "namespace": Namespace, "labels": map[string]any{"helm.sh/chart": "crossplane"}},
			"spec": map[string]any{
				"replicas": int64(1),
				"template": map[string]any{"spec": map[string]any{"containers": []any{
					map[string]any{"image": "10.123.0.1:5000/crossplane/crossplane:e2e"},
				}}},
			},
		},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
