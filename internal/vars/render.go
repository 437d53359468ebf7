// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package vars converts the variables of a Workspace into the form that the CLI reads, for the types that
// its module declares.
package vars

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Render returns a .tfvars file, in HCL, with the same meaning as an argument -var=key=value for
// each of the supplied variables. Of several values of one variable, the last one counts. A
// variable that the module does not declare is an error, and so is a value that is not exactly
// one expression. Errors name the variable and never its value, which may be a secret.
func Render(d Declarations, vars []commonv1beta1.Var) ([]byte, error) {
	last := make(map[string]int, len(vars))
	for i, v := range vars {
		last[v.Key] = i
	}

	var file []byte

	for i, v := range vars {
		if last[v.Key] != i {
			continue
		}

		if !hclsyntax.ValidIdentifier(v.Key) {
			return nil, errors.Errorf("%q is not the name of a variable", v.Key)
		}

		isExpression, ok := d.expressions[v.Key]
		if !ok && d.complete {
			return nil, errors.Errorf("the module declares no variable %q; it declares: %s", v.Key, d.names())
		}

		render := literal
		if isExpression {
			render = expression
		}

		value, err := render(v.Value)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot use the value of variable %q", v.Key)
		}

		file = fmt.Appendf(file, "%s = %s\n", v.Key, value)
	}

	return file, nil
}

// KeyAt returns the key of the variable whose value is on a line of a file that Render has returned, if any.
func KeyAt(file []byte, line int) string {
	f, ok := terraform.ParseFile(file, "rendered.tfvars")
	if !ok {
		return ""
	}

	attributes, _ := f.Body.JustAttributes()
	for key, a := range attributes {
		if a.Range.Start.Line <= line && line <= a.Range.End.Line {
			return key
		}
	}

	return ""
}

// literal returns an HCL expression whose value is the text.
func literal(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("it is not UTF-8")
	}

	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes()), nil
}

// expression returns the text as an HCL expression. The text must be exactly one expression: it
// must not be able to end and then set another variable.
func expression(text string) (string, error) {
	// The end of a heredoc needs a line break.
	if err := terraform.CheckExpression(text + "\n"); err != nil {
		return "", errors.Wrap(err, `its type takes an HCL expression, such as ["a", "b"] or { a = "b" }`)
	}

	// The CLI reads an argument as if it were in parentheses, over all of its lines. It skips a
	// byte order mark at the start. A comment at the end ends with its line.
	return "(" + strings.TrimPrefix(text, "\ufeff") + "\n)", nil
}
