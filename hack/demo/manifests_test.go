// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

// root of the repository, relative to this directory.
const root = "../.."

func TestExamples(t *testing.T) {
	t.Parallel()

	got := []string{}

	for _, file := range examples() {
		objects, err := manifest.Read(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}

		for _, o := range objects {
			if o.GetKind() == "Workspace" {
				got = append(got, name(o))
			}
		}
	}

	slices.SortFunc(got, byScope)

	want := []string{"database", "queue", unlabelled, "team-a/cache", "team-a/network"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The demo is about these Workspaces.\n-want, +got:\n%s", diff)
	}

	for name := range labelled() {
		if !slices.Contains(got, name) {
			t.Errorf("%q gets a label but is not created", name)
		}
	}
}

func TestOutsideOfCluster(t *testing.T) {
	t.Parallel()

	// The backends of examples/ are indented like this.
	const line = "    in_cluster_config = true\n"

	changed := 0

	for _, file := range examples() {
		objects, err := manifest.Read(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}

		for _, o := range objects {
			want := o.DeepCopy()
			if c := configuration(t, o); strings.Contains(c, line) {
				changed++
				want.Object["spec"] = map[string]any{"configuration": strings.Replace(c, line, "", 1)}
			}

			if err := manifest.OutsideOfCluster(o); err != nil {
				t.Fatalf("manifest.OutsideOfCluster(%s): %v", name(o), err)
			}

			if diff := cmp.Diff(want, o); diff != "" {
				t.Errorf("One line is removed, and nothing else.\nmanifest.OutsideOfCluster(%s): -want, +got:\n%s", name(o), diff)
			}
		}
	}

	if diff := cmp.Diff(3, changed); diff != "" {
		t.Errorf("There is one ProviderConfig of each kind.\n-want, +got:\n%s", diff)
	}
}

// configuration returns the configuration of the supplied ProviderConfig. It is empty for
// other objects.
func configuration(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()

	c, _, err := unstructured.NestedString(o.Object, "spec", "configuration")
	if err != nil {
		t.Fatalf("%s has no configuration of type string: %v", name(o), err)
	}

	return c
}
