// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package vars

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Declarations are the variables that a module declares.
type Declarations struct {
	expressions map[string]bool // For each variable, whether it takes an expression.
	complete    bool            // The whole module could be read: no other variable is declared.
	tooLarge    string          // The name of a file that the CLI reads, and that is too large to be parsed here.

	// Ephemeral says that one of them is ephemeral: a saved plan does not contain its value.
	Ephemeral bool

	// Imports are the addresses that the import blocks of the module import to, in the form of `state list`. An
	// address that depends on for_each is empty.
	Imports []string
}

// Declared returns the variables that the root module in dir declares for the CLI. Files that cannot be read
// or parsed are left out: the error of the CLI about them is better.
func Declared(dir fs.FS, cli *terraform.CLI) (Declarations, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return Declarations{}, errors.Wrap(err, "cannot list module")
	}

	d := Declarations{expressions: map[string]bool{}, complete: true}

	var files, overrides []string

	for _, name := range cli.Files(entries) {
		if base, _ := terraform.ConfigurationFile(name); base == "override" || strings.HasSuffix(base, "_override") {
			overrides = append(overrides, name)
		} else {
			files = append(files, name)
		}
	}

	for i, file := range slices.Concat(files, overrides) {
		for name, typ := range d.read(dir, file) {
			// An override without a type keeps the type of the variable.
			if typ != nil || i < len(files) {
				d.expressions[name] = takesExpression(typ)
			}
		}
	}

	return d, nil
}

// TooLarge returns the name of the file that may declare the variable, but was too large to be parsed, or "" if there is none. Render
// takes the value of the variable for text.
func (d *Declarations) TooLarge(variable string) string {
	if _, ok := d.expressions[variable]; ok {
		return ""
	}

	return d.tooLarge
}

// maxNames is the length in bytes of the names of variables in an error.
const maxNames = 200

// names returns the names of the variables for people.
func (d *Declarations) names() string {
	if len(d.expressions) == 0 {
		return "none"
	}

	return terraform.Truncate(strings.Join(slices.Sorted(maps.Keys(d.expressions)), ", "), maxNames)
}

// read returns the types of the variables that one file declares, or nil for no type.
func (d *Declarations) read(dir fs.FS, name string) map[string]*hcl.Attribute {
	src, err := fs.ReadFile(dir, name)

	f, ok := terraform.ParseFile(src, name)
	if err != nil || !ok {
		d.complete = false

		if info, statErr := fs.Stat(dir, name); err != nil && statErr == nil && info.Size() > terraform.MaxFile {
			d.tooLarge = name
		}

		return nil
	}

	root, _, diags := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "import"},
	}})
	if diags.HasErrors() {
		d.complete = false
	}

	types := map[string]*hcl.Attribute{}

	for _, b := range root.Blocks {
		if b.Type == "import" {
			d.Imports = append(d.Imports, addressIn(b.Body, "to"))

			continue
		}

		variable, _, diags := b.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "type"}, {Name: "ephemeral"}}})
		if diags.HasErrors() {
			d.complete = false

			continue
		}

		types[b.Labels[0]] = variable.Attributes["type"]

		d.Ephemeral = d.Ephemeral || isTrue(variable.Attributes["ephemeral"])
	}

	return types
}

// Removed returns the addresses in the removed blocks of a file that do not destroy: an apply forgets what they name.
func Removed(src []byte, name string, product terraform.Product) []string {
	f, ok := terraform.ParseFile(src, name)
	if !ok {
		return nil
	}

	var addresses []string

	root, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "removed"}}})
	for _, b := range root.Blocks {
		if from := addressIn(b.Body, "from"); from != "" && !destroys(b.Body, product) {
			addresses = append(addresses, from)
		}
	}

	return addresses
}

// destroys says whether a removed block destroys what it names. By default only Terraform does.
func destroys(block hcl.Body, product terraform.Product) bool {
	content, _, _ := block.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "lifecycle"}}})

	for _, b := range content.Blocks {
		lifecycle, _, _ := b.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "destroy"}}})
		if a := lifecycle.Attributes["destroy"]; a != nil {
			return isTrue(a)
		}
	}

	return product == terraform.Terraform
}

func isTrue(a *hcl.Attribute) bool {
	if a == nil {
		return false
	}

	v, _ := a.Expr.Value(nil)
	v, err := convert.Convert(v, cty.Bool)

	return err == nil && v.RawEquals(cty.True)
}

// addressIn returns the address in an attribute of an import or a removed block, or an empty text if only a run knows it.
func addressIn(block hcl.Body, attribute string) string {
	content, _, _ := block.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: attribute}}})
	if to, ok := content.Attributes[attribute]; ok {
		address, _ := hcl.AbsTraversalForExpr(to.Expr) // Nil if it is not one.

		return string(hclwrite.TokensForTraversal(address).Bytes())
	}

	return ""
}

// takesExpression says whether the text of a variable of this type is an expression, or the value itself. The CLI refuses the
// quoted types of Terraform 0.11, and says so better than an error about the value would.
func takesExpression(typ *hcl.Attribute) bool {
	if typ == nil {
		return false
	}

	_, quoted := typ.Expr.(*hclsyntax.TemplateExpr)

	return !quoted && !slices.Contains([]string{"string", "number", "bool"}, hcl.ExprAsKeyword(typ.Expr))
}
