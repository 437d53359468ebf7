// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParseText(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   []Diagnostic
	}{
		"NoDiagnostic": {
			reason: "not all errors have the form of a diagnostic",
			text:   "Workspace \"x\" doesn't exist.\n",
		},
		"Init": {
			reason: "several, with an introduction, places and source",
			text: `
Error: Terraform encountered problems during initialisation, including problems
with the configuration, described below.

The Terraform configuration must be valid before initialization so that
Terraform can determine which modules and providers need to be installed.


Error: Invalid expression

  on main.tf line 4, in output "a":
   4: output "a" { value = 
   5: }

Expected the start of an expression, but found an invalid expression token.

Warning: W

  on main.tf line 6:

This is not part of an error.

Error: S

  with a.b,
  on m/n.tf line 12:
  12: x

First.

Second.
`,
			want: []Diagnostic{
				{
					Summary: "Terraform encountered problems during initialisation, including problems\nwith the configuration, described below.",
					Detail:  "The Terraform configuration must be valid before initialization so that\nTerraform can determine which modules and providers need to be installed.",
				},
				{
					Summary: "Invalid expression",
					Detail:  "Expected the start of an expression, but found an invalid expression token.",
					File:    "main.tf", Line: 4, Context: `output "a"`,
				},
				{
					Summary: "S", Detail: "First.\n\nSecond.",
					Address: "a.b", File: "m/n.tf", Line: 12,
				},
			},
		},
		"Box": {
			reason: "with colors it is in a box",
			text: "\x1b[31m╷\x1b[0m\x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\x1b[1m\x1b[31mError: \x1b[0m\x1b[0m\x1b[1mS\x1b[0m\n" +
				"\x1b[31m│\x1b[0m \x1b[0m\n\x1b[31m│\x1b[0m \x1b[0m\x1b[0m  on main.tf line 1:\n\x1b[31m│\x1b[0m \x1b[0m\n\x1b[31m│\x1b[0m \x1b[0mD\n\x1b[31m╵\x1b[0m\x1b[0m\n",
			want: []Diagnostic{{Summary: "S", Detail: "D", File: "main.tf", Line: 1}},
		},
		"Indented": {
			reason: "a detail that is indented is no place",
			text:   "Error: S\n\n  - a\n  - b\n\nD\n",
			want:   []Diagnostic{{Summary: "S", Detail: "  - a\n  - b\n\nD"}},
		},
		"ManyWarnings": {
			reason: "warnings do not take the place of an error",
			text:   strings.Repeat("Warning: W\n\n", maxErrors) + "Error: S",
			want:   []Diagnostic{{Summary: "S"}},
		},
		"SummaryOnly": {
			reason: "the text may end at once",
			text:   "noise\nError: S",
			want:   []Diagnostic{{Summary: "S"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, parseText(tc.text)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzParseText checks that no text makes the parser panic, and that the parsed diagnostics fit
// into a condition.
func FuzzParseText(f *testing.F) {
	f.Add("\nError: S\n\n  with a.b,\n  on main.tf line 3, in x:\n   3: y\n\nD\n")
	f.Add("│ Error: S\n│ \n│   on x line 99999999999999999999:\n╵\n")
	f.Add("Warning: \n\n\n")
	f.Add("Error: a\nError: b\r\n\x1b[1m")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range parseText(text) {
			s := d.String()
			if strings.ContainsAny(s, "\r\n") || !utf8.ValidString(s) {
				t.Errorf("not one line of text: %q", s)
			}
		}
	})
}

// TestOrderOfState ensures that errors about resources in the state, which have no address of their own, do not depend on the order of
// the run.
func TestOrderOfState(t *testing.T) {
	t.Parallel()

	const line = `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Resource instance managed by newer provider version","detail":"The current state of %s was created by a newer provider version than is currently selected. Upgrade the cloud provider to work with this state."}}`

	report := func(addresses ...string) *Error {
		r := newReport(nil)
		for _, a := range addresses {
			r.add(fmt.Appendf(nil, line, a))
		}

		return newError(opPlan, Workspace{}, result{code: 1}, r.errors)
	}

	if diff := cmp.Diff(report("a.a", "a.b").Error(), report("a.b", "a.a").Error()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
