// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppliesSavedPlan(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		args   []string
		env    []string
		want   bool
	}{
		"None":           {reason: "no arguments", want: true},
		"How":            {reason: "arguments about the way of applying do not change the plan", args: []string{"-parallelism=3", "--lock-timeout=3s", "-lock=false", "-no-color", "-compact-warnings", "-input=false"}, want: true},
		"Shows":          {reason: "arguments about what is printed do not change the plan", args: []string{"-consolidate-warnings=false", "-consolidate-errors", "-deprecation=module:none"}, want: true},
		"ValueApart":     {reason: "a value may be an argument of its own", args: []string{"-parallelism", "3", "-no-color"}, want: true},
		"ValueMissing":   {reason: "it would take the plan file for its value", args: []string{"-no-color", "-parallelism"}},
		"Variable":       {reason: "refused by the CLI", args: []string{"-var=x=1"}},
		"VariableApart":  {reason: "refused by the CLI", args: []string{"-var", "x=1"}},
		"VariablesFile":  {reason: "refused by the CLI", args: []string{"-var-file=x"}},
		"Target":         {reason: "ignored by the CLI", args: []string{"-target=a.b"}},
		"RefreshOnly":    {reason: "ignored by the CLI, which would then apply everything", args: []string{"-refresh-only"}},
		"Replace":        {reason: "ignored by the CLI", args: []string{"-replace=a.b"}},
		"Destroy":        {reason: "ignored by the CLI", args: []string{"-destroy"}},
		"Unknown":        {reason: "an unknown argument may change the plan", args: []string{"-new-thing"}},
		"NoFlag":         {reason: "it would be taken for the plan file", args: []string{"x"}},
		"Dashes":         {reason: "no flag either", args: []string{"--"}},
		"Dash":           {reason: "no flag either", args: []string{"-"}},
		"EnvHow":         {reason: "arguments may come from the environment", env: []string{"TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-parallelism=3 -lock=false"}, want: true},
		"EnvWhat":        {reason: "as above", env: []string{"TF_CLI_ARGS_apply=-no-color -target=a.b"}},
		"EnvQuoted":      {reason: "the CLI removes quotes", env: []string{`TF_CLI_ARGS="-target=a.b"`}},
		"EnvQuotedHow":   {reason: "the CLI removes quotes", env: []string{`TF_CLI_ARGS="-parallelism" '3'`}, want: true},
		"EnvUnbalanced":  {reason: "the CLI fails", env: []string{`TF_CLI_ARGS="-target=a.b`}},
		"EnvOfOthers":    {reason: "other subcommands have their own", env: []string{"TF_CLI_ARGS_plan=-target=a.b", "X"}, want: true},
		"EnvKeepsApart":  {reason: "the plan file is not the value of the last one there", args: []string{"3"}, env: []string{"TF_CLI_ARGS=-parallelism"}},
		"NotForTheValue": {reason: "the value of a switch comes with it", args: []string{"-lock", "false"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := AppliesSavedPlan(tc.args, tc.env...); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

// outputsOfAllTypes has an output of every type. Null ones are not recorded.
const outputsOfAllTypes = `
output "string"    { value = "<é & \"quotes\">\n" }
output "empty"     { value = "" }
output "integer"   { value = 12345678901234567890 }
output "fraction"  { value = 0.1 }
output "large"     { value = 1e30 }
output "bool"      { value = true }
output "list"      { value = tolist(["b", "a"]) }
output "set"       { value = toset(["b", "a"]) }
output "tuple"     { value = [1, "a", null] }
output "map"       { value = tomap({ b = 12345678901234567890, a = 1 }) }
output "object"    { value = { z = [{ n = null }], a = 1.50 } }
output "null"      { value = null }
output "sensitive" {
  value     = { password = "12345678901234567890", n = 12345678901234567890 }
  sensitive = true
}`

func TestOutputs(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": outputsOfAllTypes})

		want := map[string]Output{}
		for name, value := range map[string]string{
			"string":    `"\u003cé \u0026 \"quotes\"\u003e\n"`,
			"empty":     `""`,
			"integer":   `12345678901234567890`,
			"fraction":  `0.1`,
			"large":     `1000000000000000000000000000000`,
			"bool":      `true`,
			"list":      `["b","a"]`,
			"set":       `["a","b"]`,
			"tuple":     `[1,"a",null]`,
			"map":       `{"a":1,"b":12345678901234567890}`,
			"object":    `{"a":1.5,"z":[{"n":null}]}`,
			"sensitive": `{"n":12345678901234567890,"password":"12345678901234567890"}`,
		} {
			want[name] = Output{Value: json.RawMessage(value), Sensitive: name == "sensitive"}
		}

		applied := mustApply(t, c, ws)
		if diff := cmp.Diff(want, mustPull(t, c, ws).Outputs); diff != "" {
			t.Errorf("state pull: -want, +got:\n%s", diff)
		}

		if diff := cmp.Diff(want, mustPlan(t, c, ws).Prior.Outputs); diff != "" {
			t.Errorf("plan: -want, +got:\n%s", diff)
		}

		hidden := want["sensitive"]
		hidden.Value = nil

		want["sensitive"] = hidden
		if diff := cmp.Diff(want, applied.Outputs); diff != "" {
			t.Errorf("apply: -want, +got:\n%s", diff)
		}
	})
}

func TestApply(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": `
variable "v" { default = "default" }
resource "terraform_data" "x" { input = var.v }
output "v" { value = var.v }`,
			"a.tfvars": `v = "file"`,
		})
		value := func(a *Applied) string { return string(a.Outputs["v"].Value) }

		p := mustPlan(t, c, ws)

		var progress []Progress

		a, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File, Progress: func(p Progress) { progress = append(progress, p) }})
		if err != nil {
			t.Fatalf("apply: %v", err)
		}

		if a.Summary != (Summary{Add: 1}) || value(a) != `"default"` {
			t.Errorf("want the saved plan to be applied, got %+v", a)
		}

		wantProgress := []Progress{
			{Event: "apply_start", Address: "terraform_data.x", Action: "create"},
			{Event: "apply_complete", Address: "terraform_data.x", Action: "create"},
		}
		if diff := cmp.Diff(wantProgress, progress); diff != "" {
			t.Errorf("progress: -want, +got:\n%s", diff)
		}

		if _, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File}); !IsStalePlan(err) {
			t.Errorf("want the plan to be stale, got %v", err)
		}

		a, err = c.Apply(t.Context(), ws, ApplyOptions{Args: []string{"-var-file=a.tfvars"}})
		if err != nil || a.Summary != (Summary{Change: 1}) || value(a) != `"file"` {
			t.Errorf("want an apply without a plan, got %+v, %v", a, err)
		}

		a, err = c.Apply(t.Context(), ws, ApplyOptions{Args: []string{"-var-file=a.tfvars", "-var=v=arg"}})
		if err != nil || a.Summary != (Summary{Change: 1}) || value(a) != `"arg"` {
			t.Errorf("want the last argument to take precedence, got %+v, %v", a, err)
		}

		p = mustPlan(t, c, ws, "-var=v=arg")

		a, err = c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File, Args: []string{"-parallelism=3"}})
		if err != nil || a.Summary != (Summary{}) || value(a) != `"arg"` {
			t.Errorf("want a plan without changes to be applicable, got %+v, %v", a, err)
		}
	})
}

func TestApplyFails(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "x" {
  count = 2
  provisioner "local-exec" { command = "echo out; echo err >&2; exit 3" }
}`})
		p := mustPlan(t, c, ws)

		var events []string

		_, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File, Progress: func(p Progress) { events = append(events, p.Event) }})
		// Both fail in any order; the message has one.
		want := make([]string, 0, 2)
		for _, address := range []string{"terraform_data.x[0]", "terraform_data.x[1]"} {
			want = append(want, `main.tf:4: `+address+`: local-exec provisioner error: Error running command 'echo out; echo err >&2; exit 3': exit status 3. `+
				`Output: out err`)
		}

		if err == nil || err.Error() != strings.Join(want, "; ") {
			t.Errorf("want %q, got %v", want, err)
		}

		slices.Sort(events)
		events = slices.DeleteFunc(events, func(e string) bool { return strings.HasPrefix(e, "provision_") })

		if diff := cmp.Diff([]string{"apply_errored", "apply_errored", "apply_start", "apply_start"}, events); diff != "" {
			t.Errorf("progress: -want, +got:\n%s", diff)
		}

		if got := mustPull(t, c, ws).Managed; got != 2 {
			t.Errorf("want the created resources in the state, got %d resources", got)
		}
	})
}

func TestDestroy(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": `
variable "v" {}
resource "terraform_data" "x" {
  count = 2
  input = var.v
}`,
			"a.tfvars": `v = 1`,
		})
		args := []string{"-var-file=a.tfvars"}

		s, err := c.Destroy(t.Context(), ws, args, nil)
		if err != nil || s.Summary != (Summary{}) {
			t.Errorf("want nothing to be destroyed with success, got %+v, %v", s, err)
		}

		mustApply(t, c, ws, "-var-file=a.tfvars")

		var events []string

		s, err = c.Destroy(t.Context(), ws, args, func(p Progress) { events = append(events, p.Event+" "+p.Action) })
		if err != nil || s.Summary != (Summary{Destroy: 2}) {
			t.Errorf("want both to be destroyed, got %+v, %v", s, err)
		}

		if got := strings.Count(strings.Join(events, "\n"), "apply_complete delete"); got != 2 {
			t.Errorf("want to see both end, got %q", events)
		}

		if got := mustPull(t, c, ws).Managed; got != 0 {
			t.Errorf("want nothing to be left, got %d", got)
		}
	})
}

func TestDestroyFails(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "x" {
  lifecycle { prevent_destroy = true }
}`})
		mustApply(t, c, ws)

		_, err := c.Destroy(t.Context(), ws, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "prevent_destroy") || !strings.HasPrefix(err.Error(), "main.tf:2: ") {
			t.Errorf("want the reason and the place, got %v", err)
		}

		if !IsPrevented(err) || strings.Contains(err.Error(), "-target") || strings.Contains(err.Error(), "-exclude") {
			t.Errorf("want no advice that leaves the resource in the state, got %v", err)
		}

		if got := mustPull(t, c, ws).Managed; got != 1 {
			t.Errorf("want it to be still there, got %d", got)
		}

		if !Began(err) {
			t.Error("want it to have read the resources")
		}

		if err := os.WriteFile(filepath.Join(ws.Dir, "main.tf"), []byte("resource {"), 0o600); err != nil {
			t.Fatal(err)
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); err == nil || Began(err) {
			t.Errorf("want a broken module to keep it from beginning, got %v", err)
		}
	})
}

// TestDestroyProvisionerWithoutValue has a destroy provisioner that refers to what the resource did not have when it was applied. It is
// evaluated without a refresh, too.
func TestDestroyProvisionerWithoutValue(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `resource "terraform_data" "x" { triggers_replace = { name = "a" } }`})
		mustApply(t, c, ws)

		if err := os.WriteFile(filepath.Join(ws.Dir, "main.tf"), []byte(`
resource "terraform_data" "x" {
  triggers_replace = { name = "a", url = "u" }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.triggers_replace.url}"
  }
}`), 0o600); err != nil {
			t.Fatal(err)
		}

		for _, args := range [][]string{nil, {"-refresh=false"}} {
			_, err := c.Destroy(t.Context(), ws, args, nil)
			if err == nil || !strings.Contains(err.Error(), "self.triggers_replace") || MissesValue(err) || CannotRefresh(err) {
				t.Errorf("%q: want an error that is not one of the refresh, got %v", args, err)
			}
		}
	})
}

// TestDestroyTargets ensures that the arguments of a destroy are named, and not those of a plan.
func TestDestroyTargets(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `resource "terraform_data" "a" {}`})
		mustApply(t, c, ws)

		if err := os.WriteFile(filepath.Join(ws.Dir, "main.tf"), []byte("resource \"terraform_data\" \"b\" {}\nresource \"terraform_data\" \"c\" {}\nmoved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		if _, err := c.Destroy(t.Context(), ws, []string{"-target=terraform_data.c"}, nil); err == nil || !strings.Contains(err.Error(), "either remove -target from spec.forProvider.destroyArgs, or add there, ") {
			t.Errorf("want destroyArgs to be named, got %v", err)
		}
	})
}

// TestDestroyWithoutValue destroys a module that refers to an output of another state, which is gone.
func TestDestroyWithoutValue(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		state := filepath.Join(t.TempDir(), "state")
		ws := newWorkspace(t, map[string]string{"main.tf": fmt.Sprintf(`
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = %q }
}
resource "terraform_data" "x" { input = data.terraform_remote_state.other.outputs.o }`, state)})

		for _, text := range []string{`{"version": 4, "outputs": {"o": {"value": "a", "type": "string"}}}`, `{"version": 4, "outputs": {}}`} {
			if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}

			if strings.Contains(text, "value") {
				mustApply(t, c, ws)
			}
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); !MissesValue(err) {
			t.Errorf("want an output to be missing, got %v", err)
		}

		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); !MissesValue(err) {
			t.Errorf("want the state to be missing, got %v", err)
		}

		if _, err := c.Destroy(t.Context(), ws, []string{"-refresh=false"}, nil); err != nil {
			t.Errorf("want a destroy that does not look, got %v", err)
		}
	})
}

// TestApplyOfFile names the plan of another directory in the arguments. The CLI would write to the state there.
func TestApplyOfFile(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		module := map[string]string{"main.tf": `resource "terraform_data" "x" {}`}
		mine, other := newWorkspace(t, module), newWorkspace(t, module)

		for _, args := range [][]string{{mustPlan(t, c, other).File}, {"-lock=true", filepath.Join(other.Dir, "plan")}} {
			if _, err := c.Apply(t.Context(), mine, ApplyOptions{Args: args}); err == nil {
				t.Errorf("arguments %q: want an error", args)
			}
		}

		for _, ws := range []Workspace{mine, other} {
			if got := mustPull(t, c, ws).Managed; got != 0 {
				t.Errorf("want nothing to be applied, got %d resources", got)
			}
		}
	})
}
