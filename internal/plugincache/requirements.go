// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/zclconf/go-cty/cty"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxModuleFile is the size of the largest file of a module that is parsed here.
const maxModuleFile = 16 * regular.MiB

// requirements are the version constraints for each provider, by its address.
type requirements map[string][]string

// needs returns the requirements of the module as far as they are known before init. The
// requirements of modules that init downloads are missing, and so are those of files that
// cannot be parsed: several runs may download such providers at once.
func (r Run) needs() requirements {
	all := requirements{}

	dir, err := filepath.Rel(r.Root, r.Dir)
	if err != nil {
		return all
	}

	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return all
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	m := moduleReader{fsys: regular.FS(root, maxModuleFile), registry: r.Registry, all: all, seen: map[string]bool{}}
	m.read(filepath.ToSlash(dir))

	return all
}

// missingFrom returns the requirements that no acceptable package fulfils.
func (r requirements) missingFrom(packages []pkg, accept func(pkg) bool) requirements {
	missing := maps.Clone(r)

	for address, constraints := range r {
		if slices.ContainsFunc(packages, func(p pkg) bool {
			return p.address == address && satisfies(p.version, constraints) && accept(p)
		}) {
			delete(missing, address)
		}
	}

	return missing
}

func satisfies(v string, constraints []string) bool {
	parsed, err := version.NewVersion(v)
	if err != nil {
		return false
	}

	for _, text := range constraints {
		c, err := version.NewConstraint(text)
		if err != nil || !c.Check(parsed) {
			return false
		}
	}

	return true
}

// A moduleReader collects the requirements of a module and of the modules beside it.
type moduleReader struct {
	fsys     fs.FS
	registry string
	all      requirements
	seen     map[string]bool
}

// read the module in a directory.
func (m *moduleReader) read(dir string) {
	if m.seen[dir] {
		return
	}

	m.seen[dir] = true

	// Those that the module names, by the names that it has for them, and those that
	// it uses.
	declared, used := requirements{}, map[string]bool{}
	sources := map[string]string{}

	entries, _ := fs.ReadDir(m.fsys, dir)
	for _, e := range entries {
		for _, b := range m.parse(path.Join(dir, e.Name())) {
			switch b.Type {
			case "terraform":
				readRequired(b, sources, declared)
			case "provider":
				used[b.Labels[0]] = true
			case "module":
				if source := text(b.Body, "source"); strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
					m.read(path.Join(dir, source))
				}
			default:
				used[providerOf(b)] = true
			}
		}
	}

	for name := range used {
		if _, ok := declared[name]; !ok {
			declared[name] = nil
		}
	}

	for name, constraints := range declared {
		if address := m.address(name, sources[name]); address != "" {
			m.all[address] = append(m.all[address], constraints...)
		}
	}
}

// address returns that of the provider with the given name and source.
func (m *moduleReader) address(name, source string) string {
	// It is part of the CLI.
	if name == "terraform" && source == "" {
		return ""
	}

	if source == "" {
		source = name
	}

	parts := strings.Split(source, "/")
	defaults := []string{m.registry, "hashicorp"}

	if len(parts) > 3 {
		return ""
	}

	return strings.Join(append(defaults[:3-len(parts)], parts...), "/")
}

// parse returns the blocks of a file that say which providers are needed.
func (m *moduleReader) parse(name string) hcl.Blocks {
	parse := hclparse.NewParser().ParseHCL
	plain, isJSON := strings.CutSuffix(name, ".json")

	if isJSON {
		parse = hclparse.NewParser().ParseJSON
	}

	if !strings.HasSuffix(plain, ".tf") && !strings.HasSuffix(plain, ".tofu") {
		return nil
	}

	src, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return nil
	}

	f, diags := parse(src, name)
	if diags.HasErrors() {
		return nil
	}

	// Blocks that could be parsed in spite of errors are good enough.
	content, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"},
		{Type: "provider", LabelNames: []string{"name"}},
		{Type: "module", LabelNames: []string{"name"}},
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "data", LabelNames: []string{"type", "name"}},
		{Type: "ephemeral", LabelNames: []string{"type", "name"}},
	}})

	return content.Blocks
}

// readRequired reads the required_providers of a terraform block.
func readRequired(b *hcl.Block, sources map[string]string, constraints requirements) {
	content, _, _ := b.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "required_providers"}}})

	for _, required := range content.Blocks {
		attributes, _ := required.Body.JustAttributes()
		for name, a := range attributes {
			constraints[name] = nil

			// Before there were sources, a version was all that there could be.
			if v := literal(a.Expr); v != "" {
				constraints[name] = []string{v}
			}

			pairs, _ := hcl.ExprMap(a.Expr)
			for _, kv := range pairs {
				switch literal(kv.Key) {
				case "source":
					sources[name] = literal(kv.Value)
				case "version":
					constraints[name] = []string{literal(kv.Value)}
				}
			}
		}
	}
}

// providerOf returns the name of the provider of a resource.
func providerOf(b *hcl.Block) string {
	content, _, _ := b.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "provider"}}})
	if a, ok := content.Attributes["provider"]; ok {
		if t, diags := hcl.AbsTraversalForExpr(a.Expr); !diags.HasErrors() {
			return t.RootName()
		}
	}

	name, _, _ := strings.Cut(b.Labels[0], "_")

	return name
}

// text returns the value of an attribute that is a literal string.
func text(body hcl.Body, name string) string {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	if a, ok := content.Attributes[name]; ok {
		return literal(a.Expr)
	}

	return ""
}

// literal returns the value of an expression that is a literal string.
func literal(e hcl.Expression) string {
	if name := hcl.ExprAsKeyword(e); name != "" {
		return name
	}

	v, diags := e.Value(nil)
	if diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
		return ""
	}

	return v.AsString()
}
