// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestNeeds(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		files  map[string]string
		want   requirements
	}{
		"Required": {
			reason: "A module has explicit requirements.",
			files:  map[string]string{"main.tf": require("a", "~> 1.0")},
			want:   requirements{"r/hashicorp/a": {"~> 1.0"}},
		},
		"RequiredAndUsed": {
			reason: "Explicit requirements take precedence over the defaults for used providers.",
			files:  map[string]string{"main.tf": require("a", "~> 1.0") + `resource "a_x" "this" {}`},
			want:   requirements{"r/hashicorp/a": {"~> 1.0"}},
		},
		"Sources": {
			reason: "Missing parts of an address have defaults.",
			files: map[string]string{"main.tf": "terraform {\nrequired_providers {\n" + `				a = { source = "example.org/b/c" }
				d = { source = "e/f" }
				g = "1.0"
			}
			}`},
			want: requirements{"example.org/b/c": nil, "r/e/f": nil, "r/hashicorp/g": {"1.0"}},
		},
		"Used": {
			reason: "A provider without explicit requirement comes from the default namespace.",
			files: map[string]string{"main.tf": `
				resource "a_x" "this" {}
				data "b" "this" {}
				provider "c" {}
				resource "d_x" "this" { provider = e.alias }
				resource "terraform_data" "this" {}
			`},
			want: requirements{"r/hashicorp/a": nil, "r/hashicorp/b": nil, "r/hashicorp/c": nil, "r/hashicorp/e": nil},
		},
		"Aliases": {
			reason: "References among the requirements do not hide the rest.",
			files: map[string]string{"main.tf": "terraform {\nrequired_providers {\n" + `				a = {
					source                = "b/a"
					version               = "1.0"
					configuration_aliases = [a.other]
				}
			}
			}`},
			want: requirements{"r/b/a": {"1.0"}},
		},
		"JSON": {
			reason: "Configuration may be JSON.",
			files: map[string]string{"main.tf.json": `{
				"terraform": {"required_providers": {"a": {"source": "b/a", "version": "1.0"}}},
				"resource": {"c_x": {"this": {}}}
			}`},
			want: requirements{"r/b/a": {"1.0"}, "r/hashicorp/c": nil},
		},
		"LocalModules": {
			reason: "Modules in the same tree count, and may call each other. Other modules do not.",
			files: map[string]string{
				"main.tf":    `module "a" { source = "./a" }`,
				"a/main.tf":  `module "b" { source = "../b" }` + "\n" + `resource "a_x" "this" {}`,
				"b/main.tf":  `module "a" { source = "../a" }` + "\n" + `module "c" { source = "c/c/c" }` + "\n" + require("b", "2.0"),
				"c/main.tf":  `resource "c_x" "this" {}`,
				"a/notes.md": "",
			},
			want: requirements{"r/hashicorp/a": nil, "r/hashicorp/b": {"2.0"}},
		},
		"Linked": {
			reason: "A module is read once, although links in circles give it any number of paths.",
			files: map[string]string{
				"main.tf": `module "a" { source = "./a" }` + "\n" + `module "b" { source = "./b/a" }` + "\n" + require("a", "1.0"),
				"a":       "-> .",
				"b":       "-> .",
			},
			want: requirements{"r/hashicorp/a": {"1.0"}},
		},
		"Outside": {
			reason: "Files outside the tree are not read.",
			files:  map[string]string{"main.tf": `module "a" { source = "../../a" }`},
			want:   requirements{},
		},
		"Broken": {
			reason: "A file that cannot be parsed does not hide the others.",
			files:  map[string]string{"a.tf": `resource "a_x" "this" {`, "b.tf": `resource "b_x" "this" {}`},
			want:   requirements{"r/hashicorp/b": nil},
		},
		"Nested": {
			reason: "Neither does one that the parser has no stack for. It would end the process.",
			files:  map[string]string{"a.tf": "a = " + strings.Repeat("(", 200_000), "b.tf": `resource "b_x" "this" {}`},
			want:   requirements{"r/hashicorp/b": nil},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root := t.TempDir()
			filesystem.Write(t, root, tc.files)

			got := Run{Root: root, Dir: root, Registry: "r"}.needs(t.Context())
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nneeds(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSatisfies(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason      string
		version     string
		constraints []string
		want        bool
	}{
		"None":     {reason: "Any version will do without constraints.", version: "1.0.0", want: true},
		"Exact":    {reason: "A version satisfies itself.", version: "1.0.0", constraints: []string{"1.0.0"}, want: true},
		"All":      {reason: "All constraints count.", version: "1.0.0", constraints: []string{">= 1.0", "< 1.0"}},
		"Unknown":  {reason: "No version satisfies an invalid constraint.", version: "1.0.0", constraints: []string{"?"}},
		"NoNumber": {reason: "An invalid version satisfies no constraint.", version: "x"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := satisfies(tc.version, tc.constraints); got != tc.want {
				t.Errorf("%s\nsatisfies(%q, %q): want %t, got %t", tc.reason, tc.version, tc.constraints, tc.want, got)
			}
		})
	}
}

// TestNeedsInterrupted ensures that no module is read after the end of a reconcile.
func TestNeedsInterrupted(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	filesystem.Write(t, root, filesystem.Files{"main.tf": require("a", "1.0")})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if diff := cmp.Diff(requirements{}, Run{Root: root, Dir: root, Registry: "r"}.needs(ctx)); diff != "" {
		t.Errorf("needs(...): -want, +got:\n%s", diff)
	}
}

// TestList ensures that links do not multiply the packages in a directory.
func TestList(t *testing.T) {
	t.Parallel()

	dir, elsewhere := t.TempDir(), t.TempDir()
	filesystem.Write(t, dir, filesystem.Files{
		"r/n/a/1.0.0/linux_amd64/a":      "",
		"r/n/b/1.0.0/linux_amd64":        "-> " + elsewhere,
		"r/n/c/1.0.0/linux_amd64":        "-> /none",
		"r/n/d/1.0.0/linux_amd64":        "a file",
		".crossplane/n/a/1.0.0/platform": "-> " + elsewhere,
		"r/n/a/2.0.0":                    "-> 1.0.0",
		"r/n/e":                          "-> a",
		"r/m":                            "-> .",
		"s":                              "-> .",
	})

	var got []string
	for _, p := range list(dir) {
		got = append(got, p.path())
	}

	if diff := cmp.Diff([]string{"r/n/a/1.0.0/linux_amd64", "r/n/b/1.0.0/linux_amd64"}, got); diff != "" {
		t.Errorf("list(...): -want, +got:\n%s", diff)
	}
}
