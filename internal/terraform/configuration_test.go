// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestConfigurationFile compares ConfigurationFile with the CLIs: a file that they read has an
// output.
func TestConfigurationFile(t *testing.T) {
	names := map[string]string{
		"a.tf": "a", "a.tofu": "a", "a.tf.json": "a", "a.tofu.json": "a", "a_override.tf.tf": "a_override.tf",
		".a.tf": "", ".tf": "", "a.tf~": "", "#a.tf#": "", "a.tfvars": "", "a.tftest.hcl": "", "a.json": "", "tf": "",
	}

	for name, want := range names {
		if base, ok := ConfigurationFile(name); base != want || ok != (want != "") {
			t.Errorf("ConfigurationFile(%q): want %q, got %q, %t", name, want, base, ok)
		}
	}

	forEachCLI(t, func(t *testing.T, c *CLI) {
		for name, base := range names {
			text := `output "o" { value = 1 }`
			if strings.HasSuffix(name, ".json") {
				text = `{"output": {"o": {"value": 1}}}`
			}

			want := base != "" && (c.Product == OpenTofu || !strings.Contains(name, ".tofu"))
			if c.Reads(name) != want {
				t.Errorf("Reads(%q): want %t", name, want)
			}

			if p := mustPlan(t, c, newWorkspace(t, map[string]string{name: text, "main.tf": "locals {}"})); p.Changes != want {
				t.Errorf("%s: want it to be read: %t, got %t", name, want, p.Changes)
			}
		}
	})
}

func TestInitUsesVariables(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		name   string
		text   string
		want   bool
	}{
		"Source":        {reason: "Init fetches it.", text: `module "m" { source = "./${var.a}" }`, want: true},
		"Version":       {reason: "Init selects it.", text: `module "m" { version = local.a }`, want: true},
		"Argument":      {reason: "Plan evaluates it.", text: `module "m" { a = var.a }`},
		"Nothing":       {reason: "Other blocks are for plan.", text: `resource "r" "r" { source = var.a }`},
		"Backend":       {reason: "Init reads the state.", text: "terraform {\n  backend \"b\" {\n    path = var.a\n  }\n}", want: true},
		"NestedBackend": {reason: "It has blocks.", text: "terraform {\n  cloud {\n    workspaces {\n      name = var.a\n    }\n  }\n}", want: true},
		"Encryption":    {reason: "Init reads the state.", text: "terraform {\n  encryption {\n    key_provider \"p\" \"p\" {\n      passphrase = var.a\n    }\n  }\n}", want: true},
		"Method":        {reason: "It is no variable.", text: "terraform {\n  encryption {\n    method \"m\" \"m\" {\n      keys = key_provider.p.p\n    }\n  }\n}"},
		"JSONSource":    {reason: "It is the same in JSON.", name: "a.tf.json", text: `{"module": {"m": {"source": "./${var.a}"}}}`, want: true},
		"JSONBackend":   {reason: "It is the same in JSON.", name: "a.tf.json", text: `{"terraform": {"backend": {"remote": {"workspaces": [{"prefix": "${var.a}"}]}}}}`, want: true},
		"JSONNothing":   {reason: "It is the same in JSON.", name: "a.tf.json", text: `{"module": {"m": {"source": "./a", "a": "${var.a}"}}, "terraform": {"backend": {"local": {}}}}`},
		"Invalid":       {reason: "What it has is unknown.", text: `module "m" {`, want: true},
	}

	for name, tc := range cases {
		if got := InitUsesVariables([]byte(tc.text), cmp.Or(tc.name, "a.tf")); got != tc.want {
			t.Errorf("%s: %s\nInitUsesVariables(...): want %t, got %t", name, tc.reason, tc.want, got)
		}
	}
}

func TestIsEmptyFile(t *testing.T) {
	t.Parallel()

	for src, want := range map[string]bool{
		"": true, "\n\n": true, "# Source: main.tf\n": true, "/* x */": true, "\ufeff": true,
		"locals {}": false, "x = 1": false, "resource {": false,
	} {
		if got := IsEmptyFile([]byte(src), "main.tf"); got != want {
			t.Errorf("%q: want %t, got %t", src, want, got)
		}
	}

	for src, want := range map[string]bool{
		"{}": true, "[]": true, "[{}]": true, `[{"//": "x"}]`: true, `{"//": "x"}`: true,
		`{"terraform": {}}`: false, `[{"locals": {}}]`: false, "{": false, "": false, `{"x": 1}`: false,
	} {
		if got := IsEmptyFile([]byte(src), "main.tf.json"); got != want {
			t.Errorf("JSON %q: want %t, got %t", src, want, got)
		}
	}
}

// TestInitUsesWorkspace has files in which init would take terraform.workspace for that of another workspace.
func TestInitUsesWorkspace(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		text string
		want bool
	}{
		"Source":   {text: `module "m" { source = "./${terraform.workspace}" }`, want: true},
		"OpenTofu": {text: `module "m" { source = "./${tofu.workspace}" }`, want: true},
		"Backend":  {text: "terraform {\n  backend \"b\" {\n    path = terraform.workspace\n  }\n}", want: true},
		"Variable": {text: `module "m" { source = "./${var.a}" }`},
		"Argument": {text: `module "m" { a = terraform.workspace }`},
		"Invalid":  {text: `module "m" {`},
	}

	for name, tc := range cases {
		if got := InitUsesWorkspace([]byte(tc.text), "a.tf"); got != tc.want {
			t.Errorf("%s: InitUsesWorkspace(...): want %t, got %t", name, tc.want, got)
		}
	}
}

// TestFiles ensures that a file counts for the CLI that reads it.
func TestFiles(t *testing.T) {
	t.Parallel()

	module := fstest.MapFS{"i.tf/j.txt": &fstest.MapFile{}}
	for _, name := range []string{"a.tf", "b.tf", "b.tofu", "c.tofu", "d.tf.json", "d.tofu.json", "e.tofu.json", "f.tf", "f.tofu.json", ".g.tofu", "h.txt"} {
		module[name] = &fstest.MapFile{}
	}

	entries, err := module.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		cli          CLI
		want, unread []string
	}{
		"OpenTofu":  {cli: CLI{Product: OpenTofu, Version: "1.8.0"}, want: []string{"a.tf", "b.tofu", "c.tofu", "d.tofu.json", "e.tofu.json", "f.tf", "f.tofu.json"}},
		"Older":     {cli: CLI{Product: OpenTofu, Version: "1.7.9"}, want: []string{"a.tf", "b.tf", "d.tf.json", "f.tf"}, unread: []string{"c.tofu", "e.tofu.json", "f.tofu.json"}},
		"Terraform": {cli: CLI{Product: Terraform, Version: "1.13.3"}, want: []string{"a.tf", "b.tf", "d.tf.json", "f.tf"}, unread: []string{"c.tofu", "e.tofu.json", "f.tofu.json"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.cli.Files(entries); !slices.Equal(tc.want, got) {
				t.Errorf("Files(...): want %q, got %q", tc.want, got)
			}

			if got := tc.cli.Unread(entries); !slices.Equal(tc.unread, got) {
				t.Errorf("Unread(...): want %q, got %q", tc.unread, got)
			}
		})
	}
}
