// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// Limits of the text that is parsed. The parser of HCL calls itself for everything that nests, and a
// stack overflow ends the whole process. A level takes up to 13 kB, and an operator 3 kB.
const (
	// maxDepth is the number of brackets, quotation marks, heredocs and templates that are open.
	maxDepth = 2000

	// maxOperators is the number of tokens that can nest without being open, wherever they are.
	maxOperators = 20_000

	// maxLines is the number of lines of heredocs: the time for one grows with the square of them.
	maxLines = 50_000
)

// MaxFile limits files that are to be parsed. The parser needs hundreds of bytes for each byte.
const MaxFile = 2 * regular.MiB

// ConfigurationFile says whether one of the CLIs reads the file of the supplied name as a part of a
// module, and returns the name without its extension. The CLIs ignore hidden and backup files.
func ConfigurationFile(name string) (base string, ok bool) {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") {
		return "", false
	}

	for _, extension := range []string{".tf", ".tofu", ".tf.json", ".tofu.json"} {
		if base, ok := strings.CutSuffix(name, extension); ok {
			return base, true
		}
	}

	return "", false
}

// IsAutoVariables says whether the CLIs read values of variables from the file of the supplied name although nothing refers to it.
func IsAutoVariables(name string) bool {
	name = strings.TrimSuffix(name, ".json")

	return name == "terraform.tfvars" || strings.HasSuffix(name, ".auto.tfvars")
}

// Reads says whether the CLI reads the file of the supplied name as a part of a module. Only OpenTofu reads *.tofu.
func (c *CLI) Reads(name string) bool {
	_, ok := ConfigurationFile(name)

	return ok && (c.Since(OpenTofu, "1.8.0") || !strings.HasSuffix(strings.TrimSuffix(name, ".json"), ".tofu"))
}

// Files returns the names of the entries of a directory that the CLI reads as parts of a module. OpenTofu reads NAME.tofu in place of
// NAME.tf, and NAME.tofu.json in place of NAME.tf.json.
func (c *CLI) Files(entries []fs.DirEntry) []string {
	names := fileNames(entries)

	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !c.Reads(name) || slices.ContainsFunc(names, func(other string) bool {
			return other != name && c.Reads(other) && toTerraform(other) == name
		})
	})
}

// Unread returns the names of the entries of a directory that only OpenTofu reads, and for which the CLI has no other one.
func (c *CLI) Unread(entries []fs.DirEntry) []string {
	names := fileNames(entries)

	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := ConfigurationFile(name)

		return !ok || c.Reads(name) || slices.Contains(names, toTerraform(name))
	})
}

func fileNames(entries []fs.DirEntry) []string {
	var names []string

	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}

	return names
}

// toTerraform returns the name of the file that OpenTofu does not read beside one of the supplied name.
func toTerraform(name string) string {
	for _, syntax := range []string{"", ".json"} {
		if base, ok := strings.CutSuffix(name, ".tofu"+syntax); ok {
			return base + ".tf" + syntax
		}
	}

	return name
}

// DeclaredResources returns the addresses of the resources that a file of a module declares, and the names of the modules that it calls. It
// has none if it cannot be parsed.
func DeclaredResources(src []byte, name string) (resources, calls []string) {
	f, ok := ParseFile(src, name)
	if !ok {
		return nil, nil
	}

	root, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "module", LabelNames: []string{"name"}},
	}})

	for _, b := range root.Blocks {
		if b.Type == "module" {
			calls = append(calls, b.Labels[0])
		} else {
			resources = append(resources, strings.Join(b.Labels, "."))
		}
	}

	return resources, calls
}

// ParseFile parses a file of a module. ok is false if it cannot be parsed, or exceeds the limits.
// Files of modules must not be parsed in another way.
func ParseFile(src []byte, name string) (f *hcl.File, ok bool) {
	var diags hcl.Diagnostics

	if strings.HasSuffix(name, ".json") {
		// It refuses text that is nested too deeply.
		if !json.Valid(src) || jsonExceedsLimits(src) {
			return nil, false
		}

		f, diags = hclparse.NewParser().ParseJSON(src, name)
	} else {
		tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
		if exceedsLimits(tokens) {
			return nil, false
		}

		f, diags = hclparse.NewParser().ParseHCL(src, name)
	}

	return f, !diags.HasErrors()
}

// CheckExpression returns an error, without the text, if the text is not exactly one expression, or if it refers to
// something: the CLI refuses that in a value, and says that the variable is not set.
func CheckExpression(text string) error {
	tokens, _ := hclsyntax.LexExpression([]byte(text), "value", hcl.InitialPos)
	if exceedsLimits(tokens) {
		return errors.New("it is nested too deeply, or too long")
	}

	expr, diags := hclsyntax.ParseExpression([]byte(text), "value", hcl.InitialPos)
	if diags.HasErrors() {
		advice := ""
		if slices.ContainsFunc(tokens, beginsTemplate) {
			advice = writeTemplate
		}

		return fmt.Errorf("%s: %s%s", diags[0].Subject, diags[0].Summary, advice)
	}

	if refs := expr.Variables(); len(refs) > 0 {
		at, advice := refs[0].SourceRange(), ": text needs quotes"
		if inTemplate(tokens, at.Start.Byte) {
			advice = writeTemplate
		}

		return fmt.Errorf("%s: A value cannot refer to anything%s", at, advice)
	}

	return nil
}

// writeTemplate says how to write text that is read as a template.
const writeTemplate = ". ${ and %{ begin a template: write $${ and %%{, or use varmap"

func beginsTemplate(t hclsyntax.Token) bool {
	return t.Type == hclsyntax.TokenTemplateInterp || t.Type == hclsyntax.TokenTemplateControl
}

// inTemplate says whether a template is open at the supplied byte.
func inTemplate(tokens hclsyntax.Tokens, at int) bool {
	open := 0

	for _, t := range tokens {
		switch {
		case t.Range.Start.Byte > at:
		case beginsTemplate(t):
			open++
		case t.Type == hclsyntax.TokenTemplateSeqEnd:
			open--
		}
	}

	return open > 0
}

// IsEmptyFile says whether a file of a module has nothing but comments. One that cannot be parsed is not empty.
func IsEmptyFile(src []byte, name string) bool {
	f, ok := ParseFile(src, name)
	if !ok {
		return false
	}

	// Whatever is in it is an error. In JSON, "//" is a comment.
	_, diags := f.Body.Content(&hcl.BodySchema{})

	return !diags.HasErrors()
}

// InitUsesVariables reports whether init depends on variables because of a file of a module: in the source or
// the version of a module, or in the settings of a backend or of the encryption. A file that cannot be parsed may do so.
func InitUsesVariables(src []byte, name string) bool {
	f, ok := ParseFile(src, name)

	return !ok || initRefersTo(f, "var", "local")
}

// InitUsesWorkspace reports whether one of these settings refers to terraform.workspace.
func InitUsesWorkspace(src []byte, name string) bool {
	f, ok := ParseFile(src, name)

	return ok && initRefersTo(f, "terraform", "tofu")
}

func initRefersTo(f *hcl.File, roots ...string) bool {
	root, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"},
		{Type: "module", LabelNames: []string{"name"}},
	}})

	return slices.ContainsFunc(root.Blocks, func(b *hcl.Block) bool {
		if b.Type == "terraform" {
			return bodyRefersTo(b.Body, roots)
		}

		call, _, _ := b.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "source"}, {Name: "version"}}})

		return refersTo(call.Attributes, roots)
	})
}

func bodyRefersTo(body hcl.Body, roots []string) bool {
	// The attributes of a body in JSON contain its blocks.
	if native, ok := body.(*hclsyntax.Body); ok && slices.ContainsFunc(native.Blocks, func(b *hclsyntax.Block) bool { return bodyRefersTo(b.Body, roots) }) {
		return true
	}

	attributes, _ := body.JustAttributes()

	return refersTo(attributes, roots)
}

func refersTo(attributes hcl.Attributes, roots []string) bool {
	for _, a := range attributes {
		for _, t := range a.Expr.Variables() {
			if slices.Contains(roots, t.RootName()) {
				return true
			}
		}
	}

	return false
}

// jsonExceedsLimits says whether a string of a JSON text exceeds the limits. Each is a template where it is an expression, and so
// is the name of each attribute.
func jsonExceedsLimits(src []byte) bool {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber() // HCL has no limit.

	for {
		t, err := d.Token()
		if err != nil {
			return !errors.Is(err, io.EOF)
		}

		text, _ := t.(string)
		if tokens, _ := hclsyntax.LexTemplate([]byte(text), "", hcl.InitialPos); exceedsLimits(tokens) {
			return true
		}
	}
}

func exceedsLimits(tokens hclsyntax.Tokens) bool {
	closers := map[hclsyntax.TokenType]hclsyntax.TokenType{
		hclsyntax.TokenOParen:          hclsyntax.TokenCParen,
		hclsyntax.TokenOBrack:          hclsyntax.TokenCBrack,
		hclsyntax.TokenOBrace:          hclsyntax.TokenCBrace,
		hclsyntax.TokenOQuote:          hclsyntax.TokenCQuote,
		hclsyntax.TokenOHeredoc:        hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateInterp:  hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
	}

	// What is open: the token that closes it, and the operators around it.
	type opened struct {
		closedBy  hclsyntax.TokenType
		operators int
	}

	open := []opened{{closedBy: hclsyntax.TokenEOF}}
	operators, lines := 0, 0

	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenStringLit:
			lines++
		case hclsyntax.TokenQuotedLit: // A lone "$" or "%" splits a string, with the same effect.
			if i > 0 && tokens[i-1].Type == t.Type {
				lines++
			}
		// A splat and an index nest although they are closed, and so does the text after a directive.
		case hclsyntax.TokenOBrack, hclsyntax.TokenTemplateControl,
			hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
			hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
			hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion:
			operators++
		default:
		}

		// A token of another type closes nothing.
		if last := open[len(open)-1]; t.Type == last.closedBy {
			operators, open = last.operators, open[:len(open)-1]
		} else if t.Type == hclsyntax.TokenComma {
			operators = last.operators
		} else if closer, ok := closers[t.Type]; ok {
			open = append(open, opened{closer, operators})
		}

		if len(open) > maxDepth || operators > maxOperators || lines > maxLines {
			return true
		}
	}

	return false
}
