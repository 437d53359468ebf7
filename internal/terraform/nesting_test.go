// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"strings"
	"testing"
)

// TestNesting tests that text that the parser may have no stack for is not parsed. A stack overflow
// ends the process.
func TestNesting(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("takes seconds")
	}

	many := func(text string) string { return strings.Repeat(text, maxOperators+1000) }
	few := func(text string) string { return strings.Repeat(text, 1000) }

	cases := map[string]struct {
		reason     string
		expression string
		want       bool
	}{
		"Parentheses": {reason: "Each parenthesis nests.", expression: many("(")},
		"Lists":       {reason: "So does each bracket.", expression: many("[")},
		"Objects":     {reason: "So does each brace.", expression: many("{a=")},
		"ForObjects":  {reason: "Newlines end nothing.", expression: "{for k, v in a : k =>" + many("!\n")},
		"Calls":       {reason: "Commas end nothing.", expression: many("f(a, ")},
		"Templates":   {reason: "A template may be inside of another.", expression: many(`"${`)},
		"Directives":  {reason: "A directive nests until its end, not until its brace.", expression: `"` + many("%{if a}") + `"`},
		"Negations":   {reason: "A chain of operators nests, regardless of newlines and comments.", expression: many("!\n-#\n")},
		"Conditions":  {reason: "So does a chain of conditions.", expression: many("a?b:") + "c"},
		"Splats":      {reason: "A splat nests, although it is closed.", expression: "a" + many("[*]")},
		"Sums":        {reason: "The left side of an operator is an expression of its own.", expression: many("1+") + "1"},
		"Comments":    {reason: "A comment closes nothing.", expression: many("( # )))\n")},
		"Strings":     {reason: "A string closes nothing.", expression: many(`(")"+`)},
		"Mismatched":  {reason: "A wrong bracket closes nothing.", expression: many("(]")},
		"Allowed":     {reason: "What people write is allowed.", expression: few("(") + "1" + few(")"), want: true},
		"Long":        {reason: "A long list is not nested.", expression: "[" + many(`"a", `) + "]", want: true},
		"Wide": {
			reason:     "Neither is a long object.",
			expression: "{\n" + few("a = -f(1)[0] # A comment.\n") + "}",
			want:       true,
		},
		"Pairs":   {reason: "Operators of one item are not around the next.", expression: "[" + strings.Repeat("[-1.5, -2.5],\n", maxOperators/2+1) + "]", want: true},
		"Pieces":  {reason: "The parser would need minutes.", expression: `"` + strings.Repeat("$ ", 60_000) + `"`},
		"Heredoc": {reason: "Neither is a long text.", expression: "<<EOT\n" + many("text\n") + "EOT\n", want: true},
		"Hours":   {reason: "The parser would need minutes, and hours for a megabyte.", expression: "<<EOT\n" + strings.Repeat("\n", 60_000) + "EOT\n"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := CheckExpression(tc.expression); (err == nil) != tc.want {
				t.Errorf("%s\nCheckExpression(): want it to be allowed: %t, got %v", tc.reason, tc.want, err)
			}

			if _, ok := ParseFile([]byte("a = "+tc.expression+"\n"), "a.tf"); ok != tc.want {
				t.Errorf("%s\nParseFile(): want it to be allowed: %t, got %t", tc.reason, tc.want, ok)
			}
		})
	}

	if _, ok := ParseFile([]byte(many("a {\n")), "a.tf"); ok {
		t.Error("blocks may be nested without limit")
	}

	if _, ok := ParseFile([]byte(strings.Repeat("a \"b\" {\n c = [-1]\n}\n", maxOperators/2+1)), "a.tf"); !ok {
		t.Error("a long file is refused")
	}

	if _, ok := ParseFile([]byte(many("[")+many("]")), "a.tf.json"); ok {
		t.Error("JSON may be nested without limit")
	}

	// It need not be in brackets: each string is a template, which init may evaluate.
	for _, text := range []string{"${" + strings.Repeat("(", 1<<20), many("${a["), strings.Repeat(`\n`, 60_000)} {
		for _, src := range []string{`{"terraform": {"a": "` + text + `"}}`, `{"terraform": {"a": {"` + text + `": 1}}}`, `{"module": {"m": {"source": ["` + text + `"]}}}`} {
			if !InitUsesVariables([]byte(src), "a.tf.json") {
				t.Errorf("templates may be nested without limit: %.60s", src)
			}
		}
	}

	if InitUsesVariables([]byte(`{"locals": {"a": ["`+few(`$${(`)+`", "`+few("a\\n")+`", {"//": "`+few("${(1)}")+`"}]}}`), "a.tf.json") {
		t.Error("what people write in JSON is refused")
	}

	if _, ok := ParseFile([]byte(`{"locals": {"a": 1e999}}`), "a.tf.json"); !ok {
		t.Error("a number that Go has no type for is refused")
	}
}
