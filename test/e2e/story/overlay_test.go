// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOverlay checks that an overlay of each example of the story has the version, the resources and
// the changes that the story wants.
func TestOverlay(t *testing.T) {
	t.Parallel()

	const ref = "10.0.0.1:5000/crossplane-contrib/provider-terraform:v1.2.3"

	// The kinds with pods, and how many objects of each there are.
	for example, want := range map[string]map[string]int{
		"single-package":  {"DeploymentRuntimeConfig": 1},
		"static-package":  {"DeploymentRuntimeConfig": 1, "Deployment": 2},
		"elastic-package": {"DeploymentRuntimeConfig": 1},
	} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()

			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}

			s := &Story{Cluster: Cluster{Root: repository(t), Dir: root}}

			objects, err := s.overlay(example, ref, change{kind: "DeploymentRuntimeConfig", op: "replace", path: inPackage + "/replicas", value: 7})
			if err != nil {
				t.Fatal(err)
			}

			got := map[string]int{}

			for _, o := range objects {
				switch o.GetKind() {
				case "Provider":
					expectField(t, o, ref, "spec", "package")
				case "DeploymentRuntimeConfig":
					got[o.GetKind()]++

					expectField(t, o, 7.0, "spec", "deploymentTemplate", "spec", "replicas")
					expectContainer(t, o, "", "spec", "deploymentTemplate", "spec")
				case "Deployment":
					got[o.GetKind()]++

					expectContainer(t, o, ref, "spec")
				}
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects with pods: -want, +got:\n%s", diff)
			}
		})
	}
}

// repository is the absolute path of its root.
func repository(t *testing.T) string {
	t.Helper()

	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}

	return root
}

// expectContainer checks the container of the pod template at the supplied path. The image is empty
// if Crossplane sets it.
func expectContainer(t *testing.T, o *unstructured.Unstructured, image string, path ...string) {
	t.Helper()

	containers, _, err := unstructured.NestedSlice(o.Object, slices.Concat(path, []string{"template", "spec", "containers"})...)
	if err != nil || len(containers) != 1 {
		t.Fatalf("%s %q has %d containers: %v", o.GetKind(), o.GetName(), len(containers), err)
	}

	c := &unstructured.Unstructured{Object: map[string]any{"spec": containers[0]}}
	expectField(t, c, cpu, "spec", "resources", "requests", "cpu")

	if image != "" {
		expectField(t, c, image, "spec", "image")
	}
}

// expectField compares a field as JSON has it.
func expectField(t *testing.T, o *unstructured.Unstructured, want any, path ...string) {
	t.Helper()

	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		t.Fatal(err)
	}

	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}

	var got any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %q: %v: -want, +got:\n%s", o.GetKind(), o.GetName(), path, diff)
	}
}
