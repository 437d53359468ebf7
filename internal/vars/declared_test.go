// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestDeclared(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		cli    *terraform.CLI // OpenTofu, if it is nil.
		module map[string]string
		want   Declarations
	}{
		"Nothing": {
			reason: "A module without variables declares none, and the result is complete.",
			module: map[string]string{"main.tf": `output "a" { value = 1 }`},
			want:   Declarations{expressions: map[string]bool{}, complete: true},
		},
		"Types": {
			reason: "Text is taken literally for primitive types and without a type, and parsed for all others.",
			module: map[string]string{"main.tf": `
				variable "string"  { type = string }
				variable "number"  { type = number }
				variable "bool"    { type = bool }
				variable "untyped" {}
				variable "default" { default = [] }
				variable "any"     { type = any }
				variable "list"    { type = list(string) }
				variable "set"     { type = set(number) }
				variable "map"     { type = map(bool) }
				variable "tuple"   { type = tuple([string, number]) }
				variable "object"  { type = object({ a = optional(string) }) }
				variable "bare"    { type = list }
				variable "quoted"  { type = "string" }
			`},
			want: Declarations{
				expressions: map[string]bool{
					"string":  false,
					"number":  false,
					"bool":    false,
					"untyped": false,
					"default": false,
					"any":     true,
					"list":    true,
					"set":     true,
					"map":     true,
					"tuple":   true,
					"object":  true,
					"bare":    true,
					"quoted":  false,
				},
				complete: true,
			},
		},
		"Ephemeral": {
			reason: "A saved plan does not contain its value.",
			module: map[string]string{"main.tf": `
				variable "a" { ephemeral = "true" }
				variable "b" { ephemeral = false }
			`},
			want: Declarations{expressions: map[string]bool{"a": false, "b": false}, Ephemeral: true, complete: true},
		},
		"Imports": {
			reason: "Addresses are as in a list of the state, in each syntax. One that depends on for_each is not known.",
			module: map[string]string{
				"main.tf":      "import {\n  to = module.m[ \"a b\" ].t.n [0]\n  id = 1\n}\nimport {\n  for_each = [1]\n  to = t.n[each.key]\n  id = 1\n}\nimport {}",
				"more.tf.json": `{"import": [{"to": "t.n[\"a\"]", "id": "1"}]}`,
			},
			want: Declarations{expressions: map[string]bool{}, complete: true, Imports: []string{`module.m["a b"].t.n[0]`, "", "", `t.n["a"]`}},
		},
		"NotEphemeral": {
			reason: "The value says so, in each syntax.",
			module: map[string]string{"main.tf": `variable "a" { ephemeral = false }`, "json.tf.json": `{"variable": {"b": {"ephemeral": false}}}`},
			want:   Declarations{expressions: map[string]bool{"a": false, "b": false}, complete: true},
		},
		"JSON": {
			reason: "The JSON syntax means the same.",
			module: map[string]string{"main.tf.json": `{"variable": {
				"string": {"type": "string"},
				"untyped": {},
				"list": [{"type": "list(string)"}],
				"any": {"type": "any"}
			}}`},
			want: Declarations{
				expressions: map[string]bool{"string": false, "untyped": false, "list": true, "any": true},
				complete:    true,
			},
		},
		"AllFiles": {
			reason: "All files of the root module count, and no others.",
			module: map[string]string{
				"a.tf":               `variable "a" {}`,
				"b.tofu":             `variable "b" {}`,
				"c.tf.json":          `{"variable": {"c": {}}}`,
				"d.tofu.json":        `{"variable": {"d": {}}}`,
				"sub/e.tf":           `variable "e" {}`,
				".f.tf":              `variable "f" {}`,
				"g.tf~":              `variable "g" {}`,
				"#h.tf#":             `variable "h" {}`,
				"i.tfvars":           `variable = 1`,
				"j.tftest.hcl":       `variable "j" {}`,
				"directory.tf/k.txt": ``,
			},
			want: Declarations{
				expressions: map[string]bool{"a": false, "b": false, "c": false, "d": false},
				complete:    true,
			},
		},
		"TofuWins": {
			reason: "OpenTofu reads *.tofu in place of *.tf of the same name.",
			module: map[string]string{
				"main.tf":   `variable "a" {}`,
				"main.tofu": `variable "a" { type = any }`,
			},
			want: Declarations{expressions: map[string]bool{"a": true}, complete: true},
		},
		"TerraformReads": {
			reason: "Terraform does not read *.tofu.", cli: productOf("terraform"),
			module: map[string]string{
				"main.tf":   `variable "a" {}`,
				"main.tofu": `variable "a" { ephemeral = true }`,
				"more.tofu": `variable "b" {}`,
			},
			want: Declarations{expressions: map[string]bool{"a": false}, complete: true},
		},
		"Override": {
			reason: "An override file changes a type, or leaves it.",
			module: map[string]string{
				"a_override.tf": `
					variable "to_list" { type = list(string) }
					variable "kept"    { default = "x" }
				`,
				"main.tf": `
					variable "to_list"   { type = string }
					variable "to_string" { type = list(string) }
					variable "kept"      { type = any }
				`,
				"override.tf": `variable "to_string" { type = string }`,
			},
			want: Declarations{
				expressions: map[string]bool{"to_list": true, "to_string": false, "kept": true},
				complete:    true,
			},
		},
		"Broken": {
			reason: "A file that does not parse is left out, so the declarations are incomplete.",
			module: map[string]string{
				"a.tf": `variable "a" { type = any }`,
				"b.tf": `variable "b" {`,
			},
			want: Declarations{expressions: map[string]bool{"a": true}},
		},
		"BrokenJSON": {
			reason: "A JSON file that does not parse is left out.",
			module: map[string]string{
				"a.tf":      `variable "a" { type = any }`,
				"b.tf.json": `{`,
			},
			want: Declarations{expressions: map[string]bool{"a": true}},
		},
		"BrokenBlock": {
			reason: "A variable without a name makes the declarations incomplete.",
			module: map[string]string{"main.tf": `
				variable {}
				variable "a" {}
			`},
			want: Declarations{expressions: map[string]bool{"a": false}},
		},
		"OtherBlocks": {
			reason: "Other blocks, known or not, do not matter.",
			module: map[string]string{"main.tf": `
				terraform { required_version = ">= 1" }
				locals { a = 1 }
				something "new" "and" "unknown" {}
				variable "a" {
					description = "a"
					sensitive   = true
					something   = new
					validation {
						condition     = var.a != ""
						error_message = "empty"
					}
				}
			`},
			want: Declarations{expressions: map[string]bool{"a": false}, complete: true},
		},
		"Nested": {
			reason: "Files that the parser has no stack for are left out. They would end the process.",
			module: map[string]string{
				"a.tf":      "a = " + strings.Repeat("(", 200_000),
				"b.tf.json": strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
			},
			want: Declarations{expressions: map[string]bool{}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if tc.cli == nil {
				tc.cli = productOf("tofu")
			}

			got, err := Declared(module(tc.module), tc.cli)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(Declarations{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemoved ensures that only blocks count that do not destroy. Without lifecycle, Terraform destroys.
func TestRemoved(t *testing.T) {
	t.Parallel()

	const blocks = "removed {\n  from = t.n\n}\nremoved {\n  from = module.m.t.n\n  lifecycle {\n    destroy = false\n  }\n}\n" +
		"removed {\n  from = t.gone\n  lifecycle {\n    destroy = true\n  }\n}\nremoved {\n  from = 1\n}\n"

	cases := map[string]struct {
		name, src string
		product   terraform.Product
		want      []string
	}{
		"OpenTofu":  {name: "a.tf", src: blocks, product: terraform.OpenTofu, want: []string{"t.n", "module.m.t.n"}},
		"Terraform": {name: "a.tf", src: blocks, product: terraform.Terraform, want: []string{"module.m.t.n"}},
		"JSON":      {name: "a.tf.json", src: `{"removed": {"from": "t.j", "lifecycle": {"destroy": false}}}`, product: terraform.Terraform, want: []string{"t.j"}},
		"Broken":    {name: "a.tf", src: "removed {"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Removed([]byte(tc.src), tc.name, tc.product)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestDeclaredUnreadable ensures that a broken link is a file that cannot be read.
func TestDeclaredUnreadable(t *testing.T) {
	t.Parallel()

	m := module(map[string]string{"a.tf": `variable "a" {}`})
	m["b.tf"] = &fstest.MapFile{Data: []byte("missing"), Mode: 0o777 | fs.ModeSymlink}

	got, err := Declared(m, productOf("tofu"))
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(Declarations{expressions: map[string]bool{"a": false}}, got, cmp.AllowUnexported(Declarations{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestTooLarge ensures that a file that may declare a variable is named only if it was too large.
func TestTooLarge(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	filesystem.Write(t, dir, map[string]string{
		"a.tf":      `variable "a" {}`,
		"broken.tf": `variable {`,
		"gone.tf":   "-> missing",
		"large.tf":  "#" + strings.Repeat("x", terraform.MaxFile),
	})

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()

	for _, want := range []string{"large.tf", ""} {
		d, err := Declared(regular.FS(root, terraform.MaxFile), productOf("tofu"))
		if err != nil {
			t.Fatal(err)
		}

		if known, unknown := d.TooLarge("a"), d.TooLarge("b"); known != "" || unknown != want {
			t.Errorf("TooLarge(...): want none for a known variable, and %q for another one, got %q and %q", want, known, unknown)
		}

		filesystem.Write(t, dir, map[string]string{"large.tf": "# It is small now."})
	}
}

func module(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}

	return m
}
