// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-terraform/test/e2e/node"
)

// TestReplaceImage replaces the reference of the examples, wherever it is.
func TestReplaceImage(t *testing.T) {
	t.Parallel()

	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "pkg.crossplane.io/v1", "kind": "Provider", "spec": map[string]any{
		"package": "registry.example.org/crossplane-contrib/provider-terraform:v0.1.0",
	}}}

	if err := replaceImage(o, "10.123.0.1:5000/p:v0.2.0"); err != nil {
		t.Fatal(err)
	}

	got, _, _ := unstructured.NestedString(o.Object, "spec", "package")
	if diff := cmp.Diff("10.123.0.1:5000/p:v0.2.0", got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRender checks that no manifest of the examples names a registry that does not exist.
func TestRender(t *testing.T) {
	t.Parallel()

	e := newEnv(&options{root: "../.."})
	e.Node = &node.Node{Registry: "10.123.0.1:5000"}

	for _, dir := range []string{"single", "single-package", "static", "static-package", "elastic", "elastic-package"} {
		objects, err := e.render(dir, "v0.2.0")
		if err != nil {
			t.Fatal(err)
		}

		images := 0

		for _, o := range objects {
			data, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}

			if strings.Contains(string(data), "example.org") {
				t.Errorf("%s: %s %s names a registry that does not exist", dir, o.GetKind(), o.GetName())
			}

			images += strings.Count(string(data), "10.123.0.1:5000/crossplane-contrib/provider-terraform:v0.2.0")
		}

		if images == 0 {
			t.Errorf("%s: there is no image", dir)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()

	const log = "all is well\nsecrets is forbidden\nGitRepository is forbidden\n401 Unauthorized\nA right is missing\n"

	got := refusals(log, []string{"GitRepository"})
	if diff := cmp.Diff([]string{"secrets is forbidden\n", "401 Unauthorized\n", "A right is missing\n"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestOptions checks that every tool has to be set, and that only known levels are accepted.
func TestOptions(t *testing.T) {
	t.Parallel()

	all := []string{"-out=" + t.TempDir()}
	for name := range (&tools{}).flags() {
		all = append(all, "-"+name+"="+t.TempDir())
	}

	cases := map[string]struct {
		args  []string
		fails bool
	}{
		"Complete":     {args: append([]string{"--smoke", "--level=node"}, all...)},
		"WithoutTools": {args: []string{"-smoke"}, fails: true},
		"UnknownLevel": {args: append([]string{"-level=cloud"}, all...), fails: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := parseOptions(tc.args); (err != nil) != tc.fails {
				t.Errorf("parseOptions(%q): %v", tc.args, err)
			}
		})
	}
}
