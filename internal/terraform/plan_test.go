// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestPlan(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": `
variable "v" {}
resource "terraform_data" "a" { input = var.v }
resource "terraform_data" "b" { triggers_replace = var.v }
output "v" { value = var.v }`,
			"one.tfvars": `v = "one"`,
			"two.tfvars": `v = "two"`,
			"elsewhere":  "",
		})
		// The operator's arguments must not change the path of the plan.
		ws.Env = append(ws.Env, "TF_CLI_ARGS_plan=-out=elsewhere")
		// A module may contain a file of any kind with the name of the plan.
		if err := os.Symlink("elsewhere", filepath.Join(ws.Dir, "plan")); err != nil {
			t.Fatal(err)
		}

		plan := func(args ...string) *Plan {
			t.Helper()

			p, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan"), Args: args})
			if err != nil {
				t.Fatalf("plan: %v", err)
			}

			return p
		}
		lineage := cmpopts.IgnoreFields(State{}, "Lineage", "Serial")
		text := func(s string) Output {
			return Output{Value: json.RawMessage(`"` + s + `"`)}
		}

		// The infrastructure does not exist yet.
		want := &Plan{
			File: filepath.Join(ws.Dir, "plan"), Changes: true, Summary: Summary{Add: 2},
			Resources: []ResourceChange{{Action: "create", Address: "terraform_data.a"}, {Action: "create", Address: "terraform_data.b"}},
			Outputs:   []string{"v"},
			Prior:     &State{},
		}

		got := plan("-var-file=two.tfvars", "-var-file=one.tfvars")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("creation: -want, +got:\n%s", diff)
		}

		info, err := os.Lstat(filepath.Join(ws.Dir, "plan"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("want a plan that no other user can read, got %v, %v", info.Mode(), err)
		}

		if b, err := os.ReadFile(filepath.Join(ws.Dir, "elsewhere")); err != nil || len(b) > 0 {
			t.Errorf("want the plan nowhere else, got %d bytes, %v", len(b), err)
		}

		if _, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: want.File}); err != nil {
			t.Fatalf("apply: %v", err)
		}

		// Nothing has changed.
		want = &Plan{File: filepath.Join(ws.Dir, "plan"), Prior: &State{Managed: 2, Addresses: []string{"terraform_data.a", "terraform_data.b"}, Outputs: map[string]Output{"v": text("one")}}}

		got = plan("-var-file=one.tfvars")
		if diff := cmp.Diff(want, got, lineage); diff != "" {
			t.Errorf("no change: -want, +got:\n%s", diff)
		}

		if diff := cmp.Diff(mustPull(t, c, ws), got.Prior); diff != "" {
			t.Errorf("the prior state is not the one that is there: -pulled, +prior:\n%s", diff)
		}

		// The configuration has.
		want = &Plan{
			File: filepath.Join(ws.Dir, "plan"), Changes: true, Summary: Summary{Add: 1, Change: 1, Destroy: 1},
			Resources: []ResourceChange{{Action: "replace", Address: "terraform_data.b"}, {Action: "update", Address: "terraform_data.a"}},
			Outputs:   []string{"v"},
			Deletions: ws.deletions([]ResourceChange{{Action: "replace", Address: "terraform_data.b"}}),
			Prior:     &State{Managed: 2, Addresses: []string{"terraform_data.a", "terraform_data.b"}, Outputs: map[string]Output{"v": text("one")}},
		}

		got = plan("-var-file=two.tfvars")
		if diff := cmp.Diff(want, got, lineage); diff != "" {
			t.Errorf("change: -want, +got:\n%s", diff)
		}

		if diff := cmp.Diff(mustPull(t, c, ws), got.Prior); diff != "" {
			t.Errorf("the prior state is not the one that is there: -pulled, +prior:\n%s", diff)
		}
	})
}

func TestPlanOfAnOutput(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		other := func(v string) string {
			return `{"version":4,"serial":1,"lineage":"x","outputs":{"v":{"value":"` + v + `","type":"string"}},"resources":[]}`
		}
		ws := newWorkspace(t, map[string]string{
			"main.tf": `
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "other.tfstate" }
}
output "v" { value = data.terraform_remote_state.other.outputs.v }`,
			"other.tfstate": other("one"),
		})
		mustApply(t, c, ws)
		filesystem.Write(t, ws.Dir, map[string]string{"other.tfstate": other("two")})

		p := mustPlan(t, c, ws)
		if !p.Changes || p.Summary != (Summary{}) || p.Prior == nil || p.Prior.Lineage == "" {
			t.Errorf("want a change of nothing but an output, got %+v", p)
		}

		if diff := cmp.Diff(mustPull(t, c, ws), p.Prior); diff != "" {
			t.Errorf("want the output that is recorded, not the one to come: -pulled, +prior:\n%s", diff)
		}
	})
}

// TestPlanOfACheck plans a check that reads something. The CLI calls that a change, however often it is applied.
func TestPlanOfACheck(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		const check = `
variable "v" { default = "one" }
check "other" {
  data "terraform_remote_state" "nested" {
    backend = "local"
    config  = { path = "other.tfstate" }
  }
  assert {
    condition     = data.terraform_remote_state.nested.outputs.v == "two"
    error_message = "no"
  }
}
`

		const other = `{"version":4,"serial":1,"lineage":"x","outputs":{"v":{"value":"one","type":"string"}},"resources":[]}`

		for name, tc := range map[string]struct {
			module string
			args   []string
			want   bool
		}{
			"Alone":    {module: check},
			"Output":   {module: check + `output "v" { value = var.v }`, args: []string{"-var=v=two"}, want: true},
			"Resource": {module: check + `resource "terraform_data" "a" { input = var.v }`, args: []string{"-var=v=two"}, want: true},
			"Read": {
				module: check + `
data "terraform_remote_state" "later" {
  backend  = "local"
  config   = { path = "other.tfstate" }
  defaults = { t = timestamp() }
}`,
				want: true,
			},
		} {
			t.Run(name, func(t *testing.T) {
				ws := newWorkspace(t, map[string]string{"main.tf": tc.module, "other.tfstate": other})
				mustApply(t, c, ws)

				p, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan"), Args: tc.args})
				if err != nil {
					t.Fatalf("plan: %v", err)
				}

				if p.Changes != tc.want {
					t.Errorf("want changes: %t, got %+v", tc.want, p)
				}

				if warned := p.Warnings.Texts(); len(warned) != 1 {
					t.Errorf("want the warning of the check, got %q", warned)
				}
			})
		}
	})
}

// TestManyErrors checks that many errors have the same message at every run, which counts them all.
func TestManyErrors(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "x" {
  count = 400
  lifecycle {
    precondition {
      condition     = count.index < 0
      error_message = "No ${count.index}."
    }
  }
}`})

		messages := map[string]bool{}

		for range 3 {
			_, err := c.Plan(t.Context(), ws, PlanOptions{Out: ws.Dir + "/plan"})
			messages[fmt.Sprint(err)] = true
		}

		if got := slices.Collect(maps.Keys(messages)); len(got) != 1 || !strings.HasPrefix(got[0], `main.tf:6: resource "terraform_data" "x": Resource precondition failed: No 0.; `) || !strings.HasSuffix(got[0], "; and 397 more") {
			t.Errorf("want one message that counts 400 errors, got %q", got)
		}
	})
}

func TestPlanFails(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		cases := map[string]struct {
			reason string
			config string
			args   []string
			want   string
			advice string
		}{
			"InvalidHCL": {
				reason: "the error says what is wrong and where",
				config: "resource \"terraform_data\" \"x\" {\n  foo = 1\n}\n",
				want:   `main.tf:2: resource "terraform_data" "x": Unsupported argument: An argument named "foo" is not expected here.`,
			},
			"MissingVariables": {
				reason: "the error has all problems",
				config: "variable \"v\" {}\nvariable \"w\" {}\n",
				want: `main.tf:1: No value for required variable: The root module input variable "v" is not set, and has no default value: ` +
					`set v in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_v.; ` +
					`main.tf:2: No value for required variable: The root module input variable "w" is not set, and has no default value: ` +
					`set w in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_w.`,
			},
			"UnquotedText": {
				reason: "the CLI takes a word for a variable",
				config: "variable \"v\" {\n  type = list(string)\n}\n",
				args:   []string{"-var=v=word"},
				advice: "Variables may not be used here: text without quotes is read as one, and so is ${...} in text, for which write $${.",
			},
			"NoAttribute": {
				reason: "of several objects, it says which one",
				config: "data \"terraform_remote_state\" \"net\" {\n  backend = \"local\"\n  config  = { path = \"net.tfstate\" }\n}\nlocals {\n  a = { b = \"c\" }\n}\noutput \"o\" {\n  value = \"${local.a.b}-${data.terraform_remote_state.net.outputs.vpc_id}\"\n}\n",
				want:   `main.tf:9: output "o": Unsupported attribute: data.terraform_remote_state.net.outputs does not have an attribute named "vpc_id".`,
			},
			"NoElement": {
				reason: "the CLIs show the values, which may be secret: the names tell enough",
				config: "variable \"env\" {\n  default = \"secret\"\n}\nlocals {\n  size = { a = \"s\" }\n}\noutput \"o\" {\n  value = local.size[\"${var.env}-${terraform.workspace}\"]\n}\n",
				want: `main.tf:8: output "o": Invalid index: The given key does not identify an element in this collection value. ` +
					`The key is made of terraform.workspace, the external name of the Workspace, and of var.env.`,
			},
			"UnknownCount": {
				reason: "the error names the field for an argument that it advises",
				config: "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {\n  count = terraform_data.a.id == \"\" ? 1 : 0\n}\n",
				want:   `main.tf:3: resource "terraform_data" "b": Invalid count argument: `,
				advice: "in spec.forProvider.planArgs and applyArgs",
			},
			"Cycle": {
				reason: "the error is the same each time",
				config: "locals {\n  a = local.b\n  b = local.c\n  c = local.d\n  d = local.e\n  e = local.f\n  f = local.g\n  g = local.a\n}\n",
				want:   "Cycle: local.a (expand), local.b (expand), local.c (expand), local.d (expand), local.e (expand), local.f (expand), local.g (expand)",
			},
			"UnknownArgument": {
				reason: "an unknown argument",
				args:   []string{"-foo"},
				want:   "spec.forProvider.planArgs: Refused argument: flag provided but not defined: -foo",
			},
		}
		for name, tc := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ws := newWorkspace(t, map[string]string{"main.tf": tc.config, "plan": "old", "net.tfstate": `{"version":4,"serial":1,"lineage":"x","outputs":{},"resources":[]}`})

				_, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan"), Args: tc.args})
				if err == nil || !strings.HasPrefix(err.Error(), tc.want) || !strings.Contains(err.Error(), tc.advice) {
					t.Errorf("%s: want %q and %q, got %v", tc.reason, tc.want, tc.advice, err)
				}

				e := &Error{}
				if !errors.As(err, &e) || e.Op != "plan" || e.ExitCode != 1 {
					t.Errorf("%s: want the error of a plan with exit code 1, got %#v", tc.reason, err)
				}

				if NeedsInit(err) || IsStalePlan(err) || IsLocked(err) {
					t.Errorf("%s: it is nothing special", tc.reason)
				}

				if _, err := os.Lstat(filepath.Join(ws.Dir, "plan")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: want no plan to be left, got %v", tc.reason, err)
				}
			})
		}
	})
}

// TestVariableInLifecycle has a variable where only OpenTofu takes one.
func TestVariableInLifecycle(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": "variable \"v\" {\n  default = false\n}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    prevent_destroy = var.v\n  }\n}\n"})

		_, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})

		const want = "Variables may not be used here: write the value itself. Other versions or products take variables there, and spec.forProvider.cli chooses one."
		if refused := c.Product == Terraform; (err != nil) != refused || refused && !strings.Contains(err.Error(), want) {
			t.Errorf("want it to be refused: %v, with %q, got %v", refused, want, err)
		}
	})
}

func TestInterruptedPlan(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		// A server that never answers blocks the plan.
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithCancel(t.Context())

		go func() {
			conn, err := l.Accept()
			_ = l.Close()

			cancel()

			if err == nil {
				_ = conn.Close() // The CLI ends the current step.
			}
		}()

		ws := newWorkspace(t, map[string]string{"main.tf": `
data "terraform_remote_state" "other" {
  backend = "http"
  config  = { address = "http://` + l.Addr().String() + `", retry_max = "0" }
}`})

		_, err = c.Plan(ctx, ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("want %v, got %v", context.Canceled, err)
		}

		if _, err := os.Lstat(filepath.Join(ws.Dir, "plan")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("want no plan to be left, got %v", err)
		}
	})
}

func TestPlanAnswers(t *testing.T) {
	t.Parallel()

	summary := `{"changes":{"add":1},"type":"change_summary"}`

	cases := map[string]struct {
		reason string
		stdout string
		code   string
		want   *Plan
	}{
		"Changes": {
			reason: "code 2 means changes",
			stdout: summary, code: "2",
			want: &Plan{Changes: true, Summary: Summary{Add: 1}},
		},
		"NoChanges": {
			reason: "code 0 means none",
			stdout: summary, code: "0",
			want: &Plan{Summary: Summary{Add: 1}},
		},
		"Removed": {
			reason: "Terraform names what it removes from the state only, and does not count it",
			stdout: `{"change":{"resource":{"addr":"a.b"},"action":"remove"},"type":"planned_change"}` + "\n" + summary, code: "2",
			want: &Plan{Changes: true, Summary: Summary{Add: 1, Forget: 1}, Resources: []ResourceChange{{Action: "remove", Address: "a.b"}}},
		},
		"Panic": {
			reason: "a Go program that panics ends with code 2 too",
			stdout: "", code: "2",
		},
		"Other": {
			reason: "any other code is a failure",
			stdout: summary, code: "3",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := stubWorkspace(t, "say", "STUB_STDOUT="+tc.stdout, "STUB_CODE="+tc.code)

			got, err := findStub(t, Options{}).Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Plan{}, "File")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if (err == nil) != (tc.want != nil) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// zipped returns a zip file with the given entries.
func zipped(tb testing.TB, entries map[string]string) []byte {
	tb.Helper()

	var b bytes.Buffer

	w := zip.NewWriter(&b)
	for name, content := range entries {
		f, err := w.Create(name)
		if err != nil {
			tb.Fatal(err)
		}

		if _, err := f.Write([]byte(content)); err != nil {
			tb.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}

	return b.Bytes()
}

const (
	stateRead      = `{"version":4,"serial":0,"lineage":"","outputs":{"o":{"value":1,"type":"number"}},"resources":[{"instances":[{}]}]}`
	stateRefreshed = `{"version":4,"serial":7,"lineage":"l","outputs":{"o":{"value":2,"type":"number"}},"resources":[]}`
)

func TestReadPlanFile(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		content []byte
		want    *State
	}{
		"Both": {
			reason:  "recorded resources and outputs, with the identity that only the other entry has",
			content: zipped(t, map[string]string{entryRead: stateRead, entryRefreshed: stateRefreshed}),
			want: &State{Lineage: "l", Serial: 7, Outputs: map[string]Output{
				"o": {Value: []byte("1")},
			}},
		},
		"NotAZip":     {reason: "an encrypted plan is JSON", content: []byte(`{"meta":{},"encrypted_data":"x"}`)},
		"Empty":       {reason: "a plan that was not written", content: nil},
		"NoRead":      {reason: "one entry is missing", content: zipped(t, map[string]string{entryRefreshed: stateRefreshed})},
		"NoRefreshed": {reason: "the other entry is missing", content: zipped(t, map[string]string{entryRead: stateRead})},
		"NotAState":   {reason: "another format", content: zipped(t, map[string]string{entryRead: "{}", entryRefreshed: stateRefreshed})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := filepath.Join(t.TempDir(), "plan")
			if err := os.WriteFile(path, tc.content, 0o600); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, readPlanFile(path)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if got := readPlanFile(filepath.Join(t.TempDir(), "missing")); got != nil {
		t.Errorf("want nothing out of nothing, got %+v", got)
	}
}

func TestEncryptedPlan(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		if c.Product != OpenTofu {
			t.Skip("only OpenTofu encrypts")
		}

		ws := newWorkspace(t, map[string]string{"main.tf": `output "o" { value = 1 }`})
		ws.Env = append(ws.Env, `TF_ENCRYPTION=
key_provider "pbkdf2" "k" {
  passphrase = "correct-horse-battery-staple"
  iterations = 200000
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.k
}
state {
  method = method.aes_gcm.m
}
plan {
  method = method.aes_gcm.m
}`)

		p := mustPlan(t, c, ws)
		if p.Prior != nil {
			t.Errorf("want no state of an encrypted plan, got %+v", p.Prior)
		}

		if _, err := c.ReadPlan(t.Context(), ws, p.File); !errors.Is(err, ErrPlanEncrypted) {
			t.Errorf("ReadPlan: want ErrPlanEncrypted, got %v", err)
		}

		if _, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File}); err != nil {
			t.Errorf("apply: %v", err)
		}

		if got := string(mustPull(t, c, ws).Outputs["o"].Value); got != "1" {
			t.Errorf("want the state to be readable, got output %q", got)
		}
	})
}
