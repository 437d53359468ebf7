// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxNesting is the largest number of tokens that one expression may have around a place in it. The
// parser of HCL calls itself for them without a limit, and a stack overflow ends the whole process.
// This many need a few dozen megabytes. encoding/json has the same limit.
const maxNesting = 10_000

// maxLines is the largest number of lines of heredocs that are parsed: the time for one heredoc
// grows with the square of its lines. This many need a few seconds.
const maxLines = 50_000

// ParseFile parses a file of a module. ok is false if it cannot be parsed, or if that would need
// too much memory or time. Files of modules must not be parsed in another way.
func ParseFile(src []byte, name string) (f *hcl.File, ok bool) {
	var diags hcl.Diagnostics

	if strings.HasSuffix(name, ".json") {
		// It refuses text that is nested too deeply.
		if !json.Valid(src) {
			return nil, false
		}

		f, diags = hclparse.NewParser().ParseJSON(src, name)
	} else {
		tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
		if tooNested(tokens, true) {
			return nil, false
		}

		f, diags = hclparse.NewParser().ParseHCL(src, name)
	}

	return f, !diags.HasErrors()
}

// CheckExpression returns an error, without the text, if the text is not exactly one expression.
func CheckExpression(text string) error {
	tokens, _ := hclsyntax.LexExpression([]byte(text), "value", hcl.InitialPos)
	if tooNested(tokens, false) {
		return errors.New("it is nested too deeply, or too long")
	}

	if _, diags := hclsyntax.ParseExpression([]byte(text), "value", hcl.InitialPos); diags.HasErrors() {
		return fmt.Errorf("%s: %s", diags[0].Subject, diags[0].Summary)
	}

	return nil
}

// An open bracket, quotation mark, heredoc or template sequence, or a whole text.
type open struct {
	closedBy hclsyntax.TokenType

	// newlines says that a newline ends an expression directly inside.
	newlines bool

	// tokens since the start of the expression directly inside. What was closed counts once.
	tokens int
}

// tooNested says whether the parser may call itself too often for these tokens, or need too long.
// newlines says that a newline ends an expression.
//
// It counts tokens of all kinds, because not only brackets matter: "!" and "?" nest as well, and so
// do operators and indexes when the expression is evaluated.
func tooNested(tokens hclsyntax.Tokens, newlines bool) bool {
	closers := map[hclsyntax.TokenType]hclsyntax.TokenType{
		hclsyntax.TokenOParen:          hclsyntax.TokenCParen,
		hclsyntax.TokenOBrack:          hclsyntax.TokenCBrack,
		hclsyntax.TokenOBrace:          hclsyntax.TokenCBrace,
		hclsyntax.TokenOQuote:          hclsyntax.TokenCQuote,
		hclsyntax.TokenOHeredoc:        hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateInterp:  hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
	}

	stack := []open{{closedBy: hclsyntax.TokenEOF, newlines: newlines}}
	total := 0 // The sum over the stack.
	lines := 0

	for i, t := range tokens {
		top := &stack[len(stack)-1]

		switch {
		case t.Type == hclsyntax.TokenComma, top.newlines && endsLine(t):
			total -= top.tokens
			top.tokens = 0
		case t.Type == top.closedBy:
			total -= top.tokens
			stack = stack[:len(stack)-1]
		case isText(t):
		default:
			total++
			top.tokens++

			if closer, ok := closers[t.Type]; ok {
				stack = append(stack, open{
					closedBy: closer,
					newlines: t.Type == hclsyntax.TokenOBrace && !startsFor(tokens[i+1:]),
				})
			}
		}

		if t.Type == hclsyntax.TokenStringLit {
			lines++
		}

		if total > maxNesting || lines > maxLines {
			return true
		}
	}

	return false
}

// endsLine says whether a token is a newline. A comment has the newline after it.
func endsLine(t hclsyntax.Token) bool {
	return t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte("\n"))
}

// isText says whether a token does not matter for the parser, or is a literal part of a string.
func isText(t hclsyntax.Token) bool {
	switch t.Type {
	case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		return true
	default:
		return false
	}
}

// startsFor says whether the tokens after a brace make a for expression, in which newlines do not
// matter.
func startsFor(tokens hclsyntax.Tokens) bool {
	for _, t := range tokens {
		if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
			return t.Type == hclsyntax.TokenIdent && string(t.Bytes) == "for"
		}
	}

	return false
}
