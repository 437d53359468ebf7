// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	t.Parallel()

	check := Diagnostic{Summary: "Check block assertion failed", Detail: strings.Repeat("long ", 100), File: "main.tf", Line: 3, Context: `check "c"`}
	deprecated := func(i int) Diagnostic { return Diagnostic{Summary: "Deprecated", Address: fmt.Sprintf("x[%d]", i)} }

	planned := Warnings{First: []Diagnostic{check, deprecated(0), deprecated(1), deprecated(2), deprecated(3)}, More: 2}
	applied := Warnings{First: []Diagnostic{deprecated(1), deprecated(5), deprecated(6)}}

	want := []string{"x[0]: Deprecated", "x[1]: Deprecated", "x[2]: Deprecated", "x[3]: Deprecated", "x[5]: Deprecated", "and 3 more"}
	if diff := cmp.Diff(want, applied.WithPlan(planned).Texts()); diff != "" {
		t.Errorf("want those of both, without the checks of the plan: -want, +got:\n%s", diff)
	}

	r := newReport(nil)
	for i := range maxTexts + 2 {
		r.addDiagnostic(levelWarning, deprecated(i))
	}

	seven := r.warned(Workspace{})
	if got := seven.WithPlan(seven).Texts(); len(got) != maxTexts+1 || got[maxTexts] != "and 2 more" {
		t.Errorf("want those of both to be counted once, got %q", got)
	}

	text := planned.Texts()[0]
	if len(text) > maxWarning || !strings.HasPrefix(text, `main.tf:3: check "c": `) || !strings.HasSuffix(text, "...") {
		t.Errorf("want a short text with the place, got %q", text)
	}
}

// TestWarningsOfRuns checks what plans and applies warn of.
func TestWarningsOfRuns(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "a" { input = "sesame" }
check "known" {
  assert {
    condition     = terraform_data.a.output != "sesame"
    error_message = "The word is sesame."
  }
}
`, "extra.tfvars": `undeclared = 1`})
		ws.Redact = func(text string) string { return strings.ReplaceAll(text, "sesame", "***") }

		const failed = `main.tf:5: check "known": Check block assertion failed: The word is ***.`

		isExtra := func(text string) bool { return strings.HasPrefix(text, "Value for undeclared variable: ") }
		plan := func() *Plan {
			t.Helper()

			p, err := c.Plan(t.Context(), ws, PlanOptions{Out: ws.Dir + "/plan", Args: []string{"-var-file=extra.tfvars"}})
			if err != nil {
				t.Fatal(err)
			}

			return p
		}

		p := plan()
		if got := p.Warnings.Texts(); len(got) != 1 || !isExtra(got[0]) {
			t.Errorf("want no warning of a check that is not known yet, got %q", got)
		}

		a, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File})
		if err != nil {
			t.Fatal(err)
		}

		applied, again := a.Warnings.WithPlan(p.Warnings).Texts(), plan().Warnings.Texts()
		if len(again) != 2 || again[0] != failed || !isExtra(again[1]) {
			t.Errorf("want %q and a superfluous value, got %q", failed, again)
		}

		if !slices.Equal(applied, again) {
			t.Errorf("the warnings after the apply are not those of the next plan: %q, %q", applied, again)
		}
	})
}

// TestUndeclaredWarnings has more values of undeclared variables than the CLI names. It names others in each run.
func TestUndeclaredWarnings(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": "", "1.tfvars": "a = 1\nb = 1\nc = 1\nd = 1\ne = 1\n", "2.tfvars": "f = 1\ng = 1\nh = 1\ni = 1\n",
		})

		const want = "Values for undeclared variables: Files of variables have values for 9 variables that the root module does not declare."

		for range 4 {
			p, err := c.Plan(t.Context(), ws, PlanOptions{Out: ws.Dir + "/plan", Args: []string{"-var-file=1.tfvars", "-var-file=2.tfvars"}})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff([]string{want}, p.Warnings.Texts()); diff != "" {
				t.Errorf("warnings: -want, +got:\n%s", diff)
			}
		}
	})
}

// TestBadCLIConfig ensures that a plan tells of errors in the CLI configuration: the CLI plans nevertheless, for example
// without the mirror that the configuration names.
func TestBadCLIConfig(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		cases := map[string]struct{ config, want string }{
			"Syntax":  {config: "credentials \"a\" {\n  token = sesame\n", want: "CLI configuration: Error parsing the settings: At 2:11: Unknown token: 2:11 IDENT ***"},
			"Content": {config: "provider_installation {\n  bar {}\n}\n", want: `CLI configuration: Invalid provider_installation method block: Unknown provider installation method "bar" at 2:3.`},
			"Good":    {config: "disable_checkpoint = true\n"},
		}

		for name, tc := range cases {
			ws := newWorkspace(t, map[string]string{"main.tf": "", ".terraformrc": tc.config})
			ws.Env = append(ws.Env, "TF_CLI_CONFIG_FILE="+ws.Dir+"/.terraformrc", "TF_LOG=debug")
			ws.Redact = func(text string) string { return strings.ReplaceAll(text, "sesame", "***") }
			ws.Origin = func(file string, line int) (string, int) {
				return map[string]string{".terraformrc": "the settings"}[file], line
			}

			p, err := c.Plan(t.Context(), ws, PlanOptions{Out: ws.Dir + "/plan"})
			if err != nil {
				t.Fatal(err)
			}

			if got := strings.Join(p.Warnings.Texts(), "; "); got != tc.want {
				t.Errorf("%s: want %q, got %q", name, tc.want, got)
			}
		}
	})
}

// TestWithPlan ensures that what a check has said or read before the apply is not a warning after it.
func TestWithPlan(t *testing.T) {
	t.Parallel()

	kept := Diagnostic{Summary: "Deprecated", Address: "data.a.site2", Context: `data "a" "site2"`}
	plan := Warnings{First: []Diagnostic{
		{Summary: "Check block assertion failed", Context: `check "health"`},
		{Summary: "Unable to read", Address: "data.a.site", Context: `check "health"`},
		{Summary: "data.a.site: Unable to read"},
		kept,
	}}

	if diff := cmp.Diff([]Diagnostic{kept}, (Warnings{}).WithPlan(plan).First); diff != "" {
		t.Errorf("WithPlan(...): -want, +got:\n%s", diff)
	}
}
