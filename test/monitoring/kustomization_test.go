// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-terraform/test/kustomize"
)

// TestKustomization renders the objects for the Prometheus operator.
func TestKustomization(t *testing.T) {
	t.Parallel()

	objects, err := kustomize.Render(filepath.Join(root, Directory))
	if err != nil {
		t.Fatal(err)
	}

	var got []string

	for _, o := range objects {
		got = append(got, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName())

		if o.GetKind() != "ConfigMap" {
			continue
		}

		want, err := os.ReadFile(filepath.Join(root, Directory, "dashboard.json"))
		if err != nil {
			t.Fatal(err)
		}

		text, _, _ := unstructured.NestedString(o.Object, "data", "provider-terraform.json")
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("the dashboard in the ConfigMap: -want, +got:\n%s", diff)
		}
	}

	want := []string{
		"ConfigMap crossplane-system/provider-terraform-dashboard",
		"PodMonitor crossplane-system/provider-terraform",
		"PrometheusRule crossplane-system/provider-terraform",
	}

	slices.Sort(got)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects: -want, +got:\n%s", diff)
	}
}
