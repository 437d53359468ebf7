// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// An argument is the value of a variable of some type.
type argument struct {
	typ  string // as in the module, empty for none
	text string
}

// TestRenderLikeArgument gives the same text to a real CLI twice, once as -var and
// once in a file: the values must be the same.
func TestRenderLikeArgument(t *testing.T) {
	t.Parallel()

	arguments := []argument{
		{typ: "any", text: `1`},
		{typ: "any", text: `1.50`},
		{typ: "any", text: `12345678901234567890`},
		{typ: "any", text: `1e100`},
		{typ: "any", text: `-1`},
		{typ: "any", text: `true`},
		{typ: "any", text: `"text"`},
		{typ: "any", text: `"a \"quoted\" $${text} %%{x} \u00e9 \n"`},
		{typ: "any", text: `"${"a"}b"`},
		{typ: "any", text: `["a", 1, [true]]`},
		{typ: "any", text: `{ a = 1, "b" = { c = "d" } }`},
		{typ: "any", text: `{"a": 1, "b": [null]}`},
		{typ: "any", text: "<<EOT\nline\n${\"a\"}\nEOT\n"},
		{typ: "any", text: "<<-EOT\n  line\n    EOT\n"},
		{typ: "any", text: `[for x in [1, 2] : x + 1]`},
		{typ: "any", text: `1 + 1`},
		{typ: "any", text: "1 +\n1"},
		{typ: "any", text: "\n [ 1 ] \n"},
		{typ: "any", text: `1 # comment`},
		{typ: "any", text: `1 // comment`},
		{typ: "any", text: `/* comment */ 1`},
		{typ: "any", text: "\ufeff1"},
		{typ: "list(string)", text: `["a", "b"]`},
		{typ: "list(string)", text: "[\n  \"a\", # first\n  \"b\",\n]"},
		{typ: "list(string)", text: `[1, true]`},
		{typ: "set(string)", text: `["b", "a", "b"]`},
		{typ: "map(string)", text: `{ a = "b", "c d" = 1 }`},
		{typ: "object({ a = string, b = optional(number, 5) })", text: `{ a = "x", c = "dropped" }`},
		{typ: "tuple([string, number])", text: `["a", "1"]`},
		{typ: "list", text: `[1, 2]`},
		{typ: "map", text: `{ a = 1 }`},
		{typ: "number", text: `1`},
		{typ: "number", text: `-1.50`},
		{typ: "number", text: `1e3`},
		{typ: "number", text: `12345678901234567890`},
		{typ: "number", text: `0.1234567890123456789012345`},
		{typ: "bool", text: `true`},
		{typ: "bool", text: `1`},
	}
	for _, text := range []string{
		``, ` `, `a`, ` a `, `1`, `01`, `12345678901234567890`, `null`, `true`, `[1]`, `{}`, `"a"`, `"`, `'`, `\`, `\n`, `\u00e9`, "a\nb\n", "\r\n", "\t",
		`$`, `${`, `${a}`, `$${a}`, `$$${a}`, `%`, `%{ if true }`, `%%{`, `<<EOT`, "<<EOT\na\nEOT\n", `# a`, `/* a */`, `a = b`, "a\nother = 1", `)`,
		"\u00e9", "e\u0301", "\u0301", "\u65e5\u672c", "\U0001f600", "\ufeffa", "\u200b", "\u2028", "\x01", "\x7f",
	} {
		arguments = append(arguments, argument{text: text}, argument{typ: "string", text: text})
	}

	vars := make([]commonv1beta1.Var, len(arguments))
	for i, a := range arguments {
		vars[i] = commonv1beta1.Var{Key: fmt.Sprintf("v%d", i), Value: a.text}
	}

	for name, cli := range program.CLIs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := newModule(t, arguments)
			want := outputs(t, cli, dir, asArguments(vars)...)
			got := outputs(t, cli, dir, "-var-file="+rendered(t, name, dir, vars))

			for i, a := range arguments {
				if diff := cmp.Diff(want[vars[i].Key], got[vars[i].Key]); diff != "" {
					t.Errorf("a variable of type %q that is given %q: -argument, +file:\n%s", a.typ, a.text, diff)
				}
			}

			if diff := cmp.Diff(len(arguments), len(got)); diff != "" {
				t.Errorf("number of outputs: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestRenderRefusedArgument gives real CLIs values that they refuse as -var. They must refuse
// them in a file, too.
func TestRenderRefusedArgument(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		argument argument
		key      string
	}{
		"NotANumber":        {reason: "The text is not a number.", argument: argument{typ: "number", text: `a`}},
		"QuotedNumber":      {reason: "Quotes are a part of a literal text.", argument: argument{typ: "number", text: `"1"`}},
		"NoNumber":          {reason: "An empty text is not a number.", argument: argument{typ: "number", text: ``}},
		"NotABool":          {reason: "The text is not a bool.", argument: argument{typ: "bool", text: `yes`}},
		"Unquoted":          {reason: "A word is a reference.", argument: argument{typ: "any", text: `a`}},
		"Call":              {reason: "Values have no functions.", argument: argument{typ: "any", text: `upper("a")`}},
		"NotAList":          {reason: "The value has another type.", argument: argument{typ: "list(string)", text: `"a"`}},
		"NoExpression":      {reason: "An empty text is not an expression.", argument: argument{typ: "list(string)", text: ``}},
		"Unfinished":        {reason: "The expression is incomplete.", argument: argument{typ: "list(string)", text: `["a"`}},
		"TwoLines":          {reason: "An expression and another attribute.", argument: argument{typ: "any", text: "1\nother = 2"}},
		"TwoByteOrderMarks": {reason: "Only one of them is skipped.", argument: argument{typ: "any", text: "\ufeff\ufeff1"}},
		"Undeclared":        {reason: "A variable that the module does not declare.", key: "undeclared"},
	}

	for cliName, cli := range program.CLIs(t) {
		for name, tc := range cases {
			t.Run(cliName+"/"+name, func(t *testing.T) {
				t.Parallel()

				dir := newModule(t, []argument{tc.argument})

				v := commonv1beta1.Var{Key: "v0", Value: tc.argument.text}
				if tc.key != "" {
					v.Key = tc.key
				}

				out, err := run(t, cli, dir, "plan", "-input=false", "-var", v.Key+"="+v.Value)
				if err == nil {
					t.Fatalf("%s\nthe CLI takes it as an argument:\n%s", tc.reason, out)
				}

				declared, err := Declared(os.DirFS(dir), productOf(cliName))
				if err != nil {
					t.Fatal(err)
				}

				data, err := Render(declared, []commonv1beta1.Var{v})
				if err != nil {
					return
				}

				if out, err := run(t, cli, dir, "plan", "-input=false", "-var-file="+write(t, dir, data)); err == nil {
					t.Errorf("%s\nthe CLI takes it in this file:\n%s\n%s", tc.reason, data, out)
				}
			})
		}
	}
}

// TestDeclaredLikeCLI checks which declaration counts when a module has several of the same
// variable.
func TestDeclaredLikeCLI(t *testing.T) {
	t.Parallel()

	files := map[string]string{
		"a_override.tf": "variable \"overridden\" {\n  type = list(string)\n}\n",
		"main.tf":       "variable \"overridden\" {\n  type = string\n}\noutput \"overridden\" {\n  value = var.overridden\n}\n",
		"json.tf.json":  `{"variable": {"json": {"type": "list(string)"}}, "output": {"json": {"value": "${var.json}"}}}`,
		"both.tf":       "variable \"both\" {\n  type = string\n}\noutput \"both\" {\n  value = var.both\n}\n",
		"both.tofu":     "variable \"both\" {\n  type = list(string)\n}\noutput \"both\" {\n  value = var.both\n}\n",
		".hidden.tf":    "variable \"json\" {\n",
	}
	vars := []commonv1beta1.Var{
		{Key: "overridden", Value: `["a"]`},
		{Key: "json", Value: `["a"]`},
		{Key: "both", Value: `["a"]`},
	}

	for name, cli := range program.CLIs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()

			for file, content := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			want := outputs(t, cli, dir, asArguments(vars)...)
			got := outputs(t, cli, dir, "-var-file="+rendered(t, name, dir, vars))

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-argument, +file:\n%s", diff)
			}

			if diff := cmp.Diff(len(vars), len(got)); diff != "" {
				t.Errorf("number of outputs: -want, +got:\n%s", diff)
			}
		})
	}
}

// newModule returns the directory of a module with a variable and an output for
// each argument, v0 and so on.
func newModule(t *testing.T, arguments []argument) string {
	t.Helper()

	var b strings.Builder

	for i, a := range arguments {
		typ := ""
		if a.typ != "" {
			typ = "  type = " + a.typ + "\n"
		}

		fmt.Fprintf(&b, "variable \"v%d\" {\n%s}\noutput \"v%d\" {\n  value = var.v%d\n}\n", i, typ, i, i)
	}

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	return dir
}

func asArguments(vars []commonv1beta1.Var) []string {
	args := make([]string, len(vars))
	for i, v := range vars {
		args[i] = "-var=" + v.Key + "=" + v.Value
	}

	return args
}

// productOf returns the CLI that program.CLIs has under this name, for Declared.
func productOf(name string) *terraform.CLI {
	if name == "terraform" {
		return &terraform.CLI{Product: terraform.Terraform, Version: "1.5.7"}
	}

	return &terraform.CLI{Product: terraform.OpenTofu, Version: "1.12.6"}
}

// rendered returns the path of a file with the values of the variables for a CLI of the product.
func rendered(t *testing.T, product, dir string, vars []commonv1beta1.Var) string {
	t.Helper()

	declared, err := Declared(os.DirFS(dir), productOf(product))
	if err != nil {
		t.Fatal(err)
	}

	data, err := Render(declared, vars)
	if err != nil {
		t.Fatal(err)
	}

	return write(t, dir, data)
}

func write(t *testing.T, dir string, data []byte) string {
	t.Helper()

	path := filepath.Join(dir, "rendered.tfvars")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// outputs returns the outputs of the module after an apply from an empty state, with these
// arguments.
func outputs(t *testing.T, cli, dir string, args ...string) map[string]any {
	t.Helper()

	if err := os.RemoveAll(filepath.Join(dir, "terraform.tfstate")); err != nil {
		t.Fatal(err)
	}

	if out, err := run(t, cli, dir, append([]string{"apply", "-input=false", "-auto-approve"}, args...)...); err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}

	out, err := run(t, cli, dir, "output", "-json")
	if err != nil {
		t.Fatalf("output: %v\n%s", err, out)
	}

	var got map[string]any

	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()

	if err := d.Decode(&got); err != nil {
		t.Fatalf("output: %v\n%s", err, out)
	}

	return got
}

func run(t *testing.T, cli, dir string, args ...string) (string, error) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), cli, args...)
	cmd.Dir = dir
	// The CLI must not read its configuration on this machine.
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1", "NO_COLOR=1"}
	out, err := cmd.CombinedOutput()

	// A missing CLI is not the same as a refusal.
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}

	return string(out), err
}
