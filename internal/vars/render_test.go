// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestRender(t *testing.T) {
	t.Parallel()

	declared := Declarations{expressions: map[string]bool{"text": false, "other": false, "list": true}, complete: true}

	type want struct {
		File string
		Err  error
	}

	cases := map[string]struct {
		reason   string
		declared Declarations
		vars     []commonv1beta1.Var
		want     want
	}{
		"Nothing": {
			reason:   "No variables make an empty file.",
			declared: declared,
		},
		"Literal": {
			reason:   "Text is a string, regardless of its content.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "text", Value: `a "b" ${c} %{d} \n`}, {Key: "other", Value: "1"}},
			want:     want{File: "text = \"a \\\"b\\\" $${c} %%{d} \\\\n\"\nother = \"1\"\n"},
		},
		"Expression": {
			reason:   "An expression does not change.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: `["a", "b"]`}},
			want:     want{File: "list = ([\"a\", \"b\"]\n)\n"},
		},
		"Heredoc": {
			reason:   "It ends with its line, and needs no line break after that.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: "<<EOT\na\nEOT"}},
			want:     want{File: "list = (<<EOT\na\nEOT\n)\n"},
		},
		"LastWins": {
			reason:   "The last value of a variable counts, even if an earlier one is wrong.",
			declared: declared,
			vars: []commonv1beta1.Var{
				{Key: "list", Value: "["},
				{Key: "text", Value: "a"},
				{Key: "list", Value: "[]"},
			},
			want: want{File: "text = \"a\"\nlist = ([]\n)\n"},
		},
		"Undeclared": {
			reason:   "The CLI only warns about a variable in a file that the module does not declare.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "undeclared", Value: "hidden"}},
			want:     want{Err: cmpopts.AnyError},
		},
		"Unknown": {
			reason:   "A broken module may declare a variable or not: the CLI reports its error.",
			declared: Declarations{expressions: map[string]bool{"list": true}},
			vars:     []commonv1beta1.Var{{Key: "undeclared", Value: "hidden"}, {Key: "list", Value: "[]"}},
			want:     want{File: "undeclared = \"hidden\"\nlist = ([]\n)\n"},
		},
		"EmptyKey": {
			reason:   "An empty text is not a name.",
			declared: Declarations{},
			vars:     []commonv1beta1.Var{{Key: "", Value: "hidden"}},
			want:     want{Err: cmpopts.AnyError},
		},
		"KeySmuggles": {
			reason:   "A name cannot set another variable, even if the declarations are unknown.",
			declared: Declarations{},
			vars:     []commonv1beta1.Var{{Key: "a = 1\nb", Value: "hidden"}},
			want:     want{Err: cmpopts.AnyError},
		},
		"ExpressionSmuggles": {
			reason:   "An expression cannot set another variable.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: "1\nother = \"hidden\""}},
			want:     want{Err: cmpopts.AnyError},
		},
		"ExpressionClosesParentheses": {
			reason:   "An expression cannot leave the parentheses that it is written in.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: "1)\nother = (\"hidden\""}},
			want:     want{Err: cmpopts.AnyError},
		},
		"ExpressionOpensComment": {
			reason:   "An expression cannot hide the text after it.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: "hidden /*"}, {Key: "text", Value: "a"}},
			want:     want{Err: cmpopts.AnyError},
		},
		"ExpressionEmpty": {
			reason:   "An empty text is not an expression.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: ""}},
			want:     want{Err: cmpopts.AnyError},
		},
		"ExpressionNested": {
			reason:   "An expression that the parser has no stack for is refused. It would end the process.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "list", Value: strings.Repeat("(", 200_000)}},
			want:     want{Err: cmpopts.AnyError},
		},
		"NotUTF8": {
			reason:   "HCL is UTF-8.",
			declared: declared,
			vars:     []commonv1beta1.Var{{Key: "text", Value: "hidden\xb2"}},
			want:     want{Err: cmpopts.AnyError},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			data, err := Render(tc.declared, tc.vars)

			got := want{File: string(data), Err: err}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}

			if err == nil {
				return
			}

			last := tc.vars[len(tc.vars)-1]
			if !strings.Contains(err.Error(), strings.Split(last.Key, "\n")[0]) && !strings.Contains(err.Error(), tc.vars[0].Key) {
				t.Errorf("%s\n%q does not name the variable", tc.reason, err)
			}

			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s\n%q contains the value", tc.reason, err)
			}
		})
	}
}

// TestTextOfList has plain text for a list. The CLI reads a word as a reference, and says that the variable is not set.
func TestTextOfList(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"hidden", "hidden,b", "hidden-b", "hidden b", "[hidden]", "{ a = hidden }", ""} {
		_, err := Render(Declarations{expressions: map[string]bool{"list": true}}, []commonv1beta1.Var{{Key: "list", Value: text}})
		if err == nil || !strings.Contains(err.Error(), `"list": its type takes an HCL expression, such as ["a", "b"] or { a = "b" }: `) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: want an error with an example and without the value, got %v", text, err)
		}
	}
}

// TestTemplateInValue has text with the signs of a template for an object, such as the JSON of a policy or of a password.
func TestTemplateInValue(t *testing.T) {
	t.Parallel()

	for _, text := range []string{`{"password": "pa${hidden}x"}`, `{"resource": "home/${aws:hidden}/*"}`, `{"text": "%{ hidden"}`, `{"a": "${}"}`, `["a ${1 + } b"]`} {
		_, err := Render(Declarations{expressions: map[string]bool{"object": true}}, []commonv1beta1.Var{{Key: "object", Value: text}})
		if err == nil || !strings.HasSuffix(err.Error(), `. ${ and %{ begin a template: write $${ and %%{, or use varmap`) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: want an error with the remedy and without the value, got %v", text, err)
		}
	}
}

// TestWordBesideTemplate ensures that the advice about templates is given only where one is the cause.
func TestWordBesideTemplate(t *testing.T) {
	t.Parallel()

	_, err := Render(Declarations{expressions: map[string]bool{"list": true}}, []commonv1beta1.Var{{Key: "list", Value: `["${"a"}b", word]`}})
	if err == nil || !strings.HasSuffix(err.Error(), "A value cannot refer to anything: text needs quotes") {
		t.Errorf("want the advice about quotes, got %v", err)
	}
}

// TestUndeclared ensures that people see the names that they may have meant, and not too many of them.
func TestUndeclared(t *testing.T) {
	t.Parallel()

	many := map[string]bool{}
	for n := range 100 {
		many[fmt.Sprintf("v%03d", n)] = true
	}

	cases := map[string]struct {
		declared map[string]bool
		want     string
	}{
		"None": {want: `the module declares no variable "nome"; it declares: none`},
		"Some": {declared: map[string]bool{"size": true, "name": false}, want: `the module declares no variable "nome"; it declares: name, size`},
		"Many": {declared: many, want: `the module declares no variable "nome"; it declares: v000, v001, v002, v003, v004, v005, v006, v007, v008, v009, v010, v011, v012, v013, v014, v015, v016, v017, v018, v019, v020, v021, v022, v023, v024, v025, v026, v027, v028, v029, v030, v031, v032,...`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := Render(Declarations{expressions: tc.declared, complete: true}, []commonv1beta1.Var{{Key: "nome", Value: "a"}})
			if err == nil || err.Error() != tc.want {
				t.Errorf("Render(...): want error %q, got %v", tc.want, err)
			}
		})
	}
}

// The value of a variable without a type is exactly the given text.
func FuzzRenderLiteral(f *testing.F) {
	for _, s := range []string{
		"", "a", `"`, `\`, `\"`, `\n`, "\n", "\r\n", "\t", "\x00", "$", "${", "$${", "$$${", "${a}", "%{", "%%{", "%%%{ if a }", "}", "$\u0301{",
		"e\u0301", "\u0301", "\ufeff", "\u2028", "\U0001f600", "\U0010ffff", "\xb2", "12345678901234567890", "null", "true", "<<EOT\na\nEOT\n", "# a", "/*", "*/",
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, text string) {
		data, err := Render(Declarations{expressions: map[string]bool{"a": false}, complete: true}, []commonv1beta1.Var{{Key: "a", Value: text}})
		if err != nil {
			if utf8.ValidString(text) {
				t.Errorf("%q is UTF-8, but not accepted: %v", text, err)
			}

			return
		}

		// That is the value that the CLI makes of the same argument.
		want := cty.StringVal(text)
		if got := parse(t, data); len(got) != 1 || !got["a"].RawEquals(want) {
			t.Errorf("%q was rendered as\n%s\nand that means %#v", text, data, got)
		}
	})
}

// For any text, a variable with a type gets the value that the text has as an argument,
// and no other variable is set.
func FuzzRenderExpression(f *testing.F) {
	for _, s := range []string{
		"", "1", "[1, 2]", "[\n1,\n2\n]", `{ a = 1, "b" : [true, null] }`, "1 +\n2", "(1)", "1)", "(1", "1\nb = 2", "1)\nb = (2", "1 # a", "1 // a", "1 /* a */", "1 /*", "/* a */ 1",
		"<<EOT\na\nEOT\n", "<<EOT\na\nEOT", "<<-EOT\n  a\n  EOT\n)", `"${"a"}"`, `"$${a}"`, `"%{ if true }a%{ endif }"`, "\ufeff1", "1\x00", "[for a in [1]: a]", "a.b", "f(1)", "f(1...)", "1 ? 2 : 3",
		"12345678901234567890.5", "-1e400", "null", "any", "\"\xb2\"", "'a'", "1;2", "{", "}", "{}\n}", "\n1\n", "1\r\n",
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, text string) {
		data, err := Render(Declarations{expressions: map[string]bool{"a": true}, complete: true}, []commonv1beta1.Var{{Key: "a", Value: text}})
		// The CLI parses the argument in this way, but does not end its last line. Then it refuses references.
		expr, diags := hclsyntax.ParseExpression([]byte(text+"\n"), "", hcl.InitialPos)
		if diff := cmp.Diff(diags.HasErrors() || len(expr.Variables()) > 0, err != nil); diff != "" {
			t.Fatalf("whether %q is refused: -CLI, +Render:\n%s\nby the CLI: %v\nby Render: %v", text, diff, diags, err)
		}

		if err != nil {
			return
		}

		want, diags := expr.Value(nil)
		if diags.HasErrors() {
			want = cty.NilVal
		}

		if got := parse(t, data); len(got) != 1 || !got["a"].RawEquals(want) {
			t.Errorf("%q was rendered as\n%s\nand that means %#v, and not %#v", text, data, got, want)
		}
	})
}

// parse reads a .tfvars file as the CLI does. A variable whose expression has no
// value, because it needs others, is cty.NilVal.
func parse(t *testing.T, data []byte) map[string]cty.Value {
	t.Helper()

	f, diags := hclsyntax.ParseConfig(data, "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("the file does not parse: %v\n%s", diags, data)
	}

	attributes, diags := f.Body.JustAttributes()
	if diags.HasErrors() {
		t.Fatalf("the file has other things than variables: %v\n%s", diags, data)
	}

	values := map[string]cty.Value{}

	for name, a := range attributes {
		v, diags := a.Expr.Value(nil)
		if diags.HasErrors() {
			v = cty.NilVal
		}

		values[name] = v
	}

	return values
}

func TestKeyAt(t *testing.T) {
	t.Parallel()

	file := []byte("a = (1\n)\nb = \"text\"\n")
	for line, want := range []string{"", "a", "a", "b", ""} {
		if got := KeyAt(file, line); got != want {
			t.Errorf("KeyAt(..., %d): want %q, got %q", line, want, got)
		}
	}
}
