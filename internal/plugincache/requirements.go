// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// requirements are the version constraints for each provider, by its address.
type requirements map[string][]string

// needs returns the requirements of the module that are known before init. Several runs may download
// the others at once: those of modules that init downloads, and of files that cannot be parsed. It is
// incomplete if ctx ends.
func (r Run) needs(ctx context.Context) requirements {
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

	m := moduleReader{run: r, fsys: regular.FS(root, terraform.MaxFile), all: all, seen: map[string]bool{}}
	m.read(ctx, filepath.ToSlash(dir))

	return all
}

// missingFrom returns the addresses for which no acceptable package fulfils the requirements.
func (r requirements) missingFrom(packages []pkg, accept func(pkg) bool) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(r)), func(address string) bool {
		return slices.ContainsFunc(packages, func(p pkg) bool {
			return p.address == address && satisfies(p.version, r[address]) && accept(p)
		})
	})
}

func satisfies(v string, constraints []string) bool {
	parsed, err := version.NewVersion(v)
	if err != nil {
		return false
	}

	return !slices.ContainsFunc(constraints, func(text string) bool {
		c, err := version.NewConstraint(text)

		return err != nil || !c.Check(parsed)
	})
}

// A requirement is an entry of required_providers.
type requirement struct {
	source      string
	constraints []string
}

func newRequirement(e hcl.Expression) requirement {
	r := requirement{}

	// Before there were sources, the value was a version.
	if v := literal(e); v != "" {
		r.constraints = []string{v}
	}

	pairs, _ := hcl.ExprMap(e)
	for _, kv := range pairs {
		switch literal(kv.Key) {
		case "source":
			r.source = literal(kv.Value)
		case "version":
			r.constraints = []string{literal(kv.Value)}
		}
	}

	return r
}

// A moduleReader collects the requirements of a module and of its local modules.
type moduleReader struct {
	run  Run
	fsys fs.FS
	all  requirements

	// seen has paths without links: links in circles give a directory any number of paths.
	seen map[string]bool
}

// read the module in a directory.
func (m *moduleReader) read(ctx context.Context, dir string) {
	if _, err := fs.Stat(m.fsys, dir); err != nil || ctx.Err() != nil {
		return
	}

	resolved, err := filepath.EvalSymlinks(filepath.Join(m.run.Root, dir))
	if err != nil || m.seen[resolved] {
		return
	}

	m.seen[resolved] = true
	providers := map[string]requirement{}

	entries, _ := fs.ReadDir(m.fsys, dir)
	for _, e := range entries {
		if _, ok := terraform.ConfigurationFile(e.Name()); !ok {
			continue
		}

		for _, source := range m.readFile(path.Join(dir, e.Name()), providers) {
			if strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
				m.read(ctx, path.Join(dir, source))
			}
		}
	}

	for name, r := range providers {
		if address := m.address(name, r.source); address != "" {
			m.all[address] = append(m.all[address], r.constraints...)
		}
	}
}

// readFile adds the requirements of a file, by the names that the module has for providers, and
// returns the sources of the modules that the file calls. An explicit requirement takes precedence
// over the use of a provider, which needs none.
func (m *moduleReader) readFile(name string, to map[string]requirement) (sources []string) {
	src, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return nil
	}

	parsed, ok := terraform.ParseFile(src, name)
	if !ok {
		return nil
	}

	use := func(provider string) {
		if _, ok := to[provider]; !ok {
			to[provider] = requirement{}
		}
	}

	for _, b := range moduleBlocks(parsed.Body) {
		attributes, _ := b.Body.JustAttributes()

		switch b.Type {
		case "terraform":
			for _, required := range blocks(b.Body, hcl.BlockHeaderSchema{Type: "required_providers"}) {
				entries, _ := required.Body.JustAttributes()
				for name, a := range entries {
					to[name] = newRequirement(a.Expr)
				}
			}
		case "provider":
			use(b.Labels[0])
		case "module":
			if a, ok := attributes["source"]; ok {
				sources = append(sources, literal(a.Expr))
			}
		default:
			use(providerOf(b.Labels[0], attributes["provider"]))
		}
	}

	return sources
}

// moduleBlocks returns the blocks of a module that use providers or modules.
func moduleBlocks(body hcl.Body) hcl.Blocks {
	name, typeAndName := []string{"name"}, []string{"type", "name"}

	return blocks(body,
		hcl.BlockHeaderSchema{Type: "terraform"},
		hcl.BlockHeaderSchema{Type: "provider", LabelNames: name},
		hcl.BlockHeaderSchema{Type: "module", LabelNames: name},
		hcl.BlockHeaderSchema{Type: "resource", LabelNames: typeAndName},
		hcl.BlockHeaderSchema{Type: "data", LabelNames: typeAndName},
		hcl.BlockHeaderSchema{Type: "ephemeral", LabelNames: typeAndName},
	)
}

// blocks returns the blocks of these types, except for broken ones.
func blocks(body hcl.Body, types ...hcl.BlockHeaderSchema) hcl.Blocks {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: types})

	return content.Blocks
}

// providerOf returns the name of the provider of a resource. a is nil if the resource names none.
func providerOf(resourceType string, a *hcl.Attribute) string {
	if a != nil {
		if t, diags := hcl.AbsTraversalForExpr(a.Expr); !diags.HasErrors() {
			return t.RootName()
		}
	}

	name, _, _ := strings.Cut(resourceType, "_")

	return name
}

// address returns the address of the provider with the given name and source.
func (m *moduleReader) address(name, source string) string {
	// This provider is part of the CLI.
	if name == "terraform" && source == "" {
		return ""
	}

	parts := strings.Split(cmp.Or(source, name), "/")
	if len(parts) > 3 {
		return ""
	}

	return strings.Join(append([]string{m.run.Registry, "hashicorp"}[:3-len(parts)], parts...), "/")
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
