// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiagnosticString(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		d      Diagnostic
		want   string
	}{
		"SummaryOnly": {reason: "some diagnostics have only a summary", d: Diagnostic{Summary: "execution halted"}, want: "execution halted"},
		"File": {
			reason: "the place in the configuration is named",
			d: Diagnostic{
				Summary: "Unsupported argument", Detail: "An argument named \"foo\"\nis not  expected here.\n",
				File: "main.tf", Line: 3, Context: `resource "terraform_data" "x"`,
			},
			want: `main.tf:3: resource "terraform_data" "x": Unsupported argument: An argument named "foo" is not expected here.`,
		},
		"Address": {
			reason: "so is the resource",
			d:      Diagnostic{Summary: "S", Detail: "D", Address: `m.x["a"]`, File: "m/x.tf", Line: 1},
			want:   `m/x.tf:1: m.x["a"]: S: D`,
		},
		"NoBlock": {
			reason: "a provider without a provider block has no place",
			d:      Diagnostic{Summary: "Missing required argument", Detail: "D", Address: `provider["registry.terraform.io/hashicorp/aws"]`, File: "<empty>", Line: 1},
			want:   `provider["registry.terraform.io/hashicorp/aws"]: Missing required argument: D`,
		},
		"NotFitForACondition": {
			reason: "colors and broken text are taken out",
			d:      Diagnostic{Summary: "\x1b[31mred\x1b[0m", Detail: "a\xffb\tc"},
			want:   "red: ab c",
		},
		"Progress": {
			reason: "it is what a terminal shows at the end",
			d:      Diagnostic{Summary: "S", Detail: "Error running command 'x': exit status 1. Output: 10%\r\x1b[K50%\r\x1b[?25h\x1b(B\x1b[mgone\a\r\nof\rlast\x1b]0;title\a\n"},
			want:   "S: Error running command 'x': exit status 1. Output: gone last",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, tc.d.String()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestErrorsOf(t *testing.T) {
	t.Parallel()

	a := Diagnostic{Summary: "S", Address: "x[0]"}
	b := Diagnostic{Summary: "S", Address: "x[1]"}
	halted := Diagnostic{Summary: "execution halted"}
	first := Diagnostic{Summary: "missing", File: "z.tf", Line: 1}
	second := Diagnostic{Summary: "missing", File: "z.tf", Line: 2}
	stopping := Diagnostic{Summary: "stopping"}
	intro := Diagnostic{Summary: "OpenTofu encountered problems during initialization, including ..."}

	cases := map[string]struct {
		reason string
		in     []Diagnostic
		want   []Diagnostic
	}{
		"Resources": {reason: "resources are ordered by address", in: []Diagnostic{b, a}, want: []Diagnostic{a, b}},
		"Lines":     {reason: "the configuration is ordered by line", in: []Diagnostic{second, first}, want: []Diagnostic{first, second}},
		"Kinds":     {reason: "resources come first, then the configuration", in: []Diagnostic{halted, first, a}, want: []Diagnostic{a, first, halted}},
		"Others":    {reason: "the rest stays in order", in: []Diagnostic{stopping, halted}, want: []Diagnostic{stopping, halted}},
		"Conclusion": {
			reason: "what the others explain comes first", in: []Diagnostic{stopping, halted, {Summary: "No valid azure auth methods found: x"}},
			want: []Diagnostic{{Summary: "No valid azure auth methods found: x"}, stopping, halted},
		},
		"Once":     {reason: "each comes once", in: []Diagnostic{halted, a, halted, a}, want: []Diagnostic{a, halted}},
		"Preamble": {reason: "an introduction adds nothing", in: []Diagnostic{intro, first}, want: []Diagnostic{first}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, errorsOf(tc.in)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCauses ensures that a variable without a value is left out only if another error says why it has none.
func TestCauses(t *testing.T) {
	t.Parallel()

	missing := func(name string) Diagnostic {
		return Diagnostic{Summary: "No value for required variable", Detail: fmt.Sprintf("The root module input variable %q is not set, and has no default value.", name), File: "main.tf"}
	}
	value := Diagnostic{Summary: "Missing item separator", File: "<value for var.a from environment>"}
	file := Diagnostic{Summary: "Invalid expression", File: "0.tfvars"}
	ofType := Diagnostic{Summary: "Invalid value for input variable", File: "0.tfvars"}
	backend := Diagnostic{Summary: "Invalid expression", File: "0.tfbackend"}
	page := Diagnostic{Summary: "Unsupported state file format", Detail: "The state file could not be parsed as JSON: syntax error at byte offset 1."}
	version := Diagnostic{Summary: "Unsupported state file format", Detail: `The state file does not have a "version" attribute, which is required`}
	encryption := Diagnostic{Summary: "Unsupported state file format", Detail: "The state file can not be checked for presence of encryption: invalid character"}
	there := version
	there.Address = "data.terraform_remote_state.a"
	own := Diagnostic{Summary: "error loading state: 2 problems: - " + page.text() + " - " + version.text()}
	unable := Diagnostic{Summary: "Unable to read remote state", Address: there.Address}

	cases := map[string]struct {
		reason   string
		in, want []Diagnostic
	}{
		"Value":   {reason: "The value cannot be read.", in: []Diagnostic{value, missing("a")}, want: []Diagnostic{value}},
		"Other":   {reason: "That of another one can.", in: []Diagnostic{value, missing("a"), missing("b")}, want: []Diagnostic{value, missing("b")}},
		"Longer":  {reason: "The name is not a part of one.", in: []Diagnostic{value, missing("ab")}, want: []Diagnostic{value, missing("ab")}},
		"File":    {reason: "No value of the file can be read.", in: []Diagnostic{file, missing("a"), missing("b")}, want: []Diagnostic{file}},
		"Type":    {reason: "The other values of the file have been read.", in: []Diagnostic{ofType, missing("b")}, want: []Diagnostic{ofType, missing("b")}},
		"Backend": {reason: "The file of a backend has no values of variables.", in: []Diagnostic{backend, missing("a")}, want: []Diagnostic{backend, missing("a")}},
		"Page":    {reason: "What is no JSON has no version and no encryption.", in: []Diagnostic{version, page, encryption}, want: []Diagnostic{page}},
		"There":   {reason: "Another state is JSON.", in: []Diagnostic{page, there}, want: []Diagnostic{page, there}},
		"Both":    {reason: "The CLIs join them for the state of the Workspace.", in: []Diagnostic{own}, want: []Diagnostic{own}},
		"Unable":  {reason: "Another error says why.", in: []Diagnostic{unable, there}, want: []Diagnostic{there}},
		"Why":     {reason: "None says why.", in: []Diagnostic{page, unable}, want: []Diagnostic{page, unable}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, causes(tc.in)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestShortOutput ensures that the end of the output of a provisioner is shown: that is where the cause is.
func TestShortOutput(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("TASK [install package] ok. ", 100)
	d := Diagnostic{Summary: "local-exec provisioner error", Detail: "Error running command '" + long + "': exit status 2. Output: " + long + "fatal: Permission denied"}

	got := d.forPeople(Workspace{}).String()
	if len(got) > maxMessage || !strings.Contains(got, "...': exit status 2. Output: ...") || !strings.HasSuffix(got, "fatal: Permission denied") {
		t.Errorf("want the exit status and the end of the output, got %q", got)
	}

	for _, cause := range []string{"exit status 7", "chdir ./scripts: no such file or directory", "fork/exec ./run.sh: permission denied"} {
		for _, end := range []string{"", "Permission denied. See ./log"} {
			command := "jq '.a': x. main.tf " + long
			d.Detail = "Error running command '" + command + "': " + cause + ". Output: " + end
			want := "a field: local-exec provisioner error: Error running command '" + Truncate(command, 200) + "': " + strings.TrimSpace(cause+". Output: "+end)

			got := d.forPeople(Workspace{Origin: func(string, int) (string, int) { return "a field", 0 }}).String()
			if got != want {
				t.Errorf("want %q, got %q", want, got)
			}
		}
	}

	const short = "Error running command 'a': exit status 2. Output: b"
	if got := (Diagnostic{Detail: short}).forPeople(Workspace{}).String(); got != short {
		t.Errorf("want %q, got %q", short, got)
	}
}
