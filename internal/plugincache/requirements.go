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
	"syscall"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/zclconf/go-cty/cty"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// requirements are the version constraints for each provider, by its address.
type requirements map[string][]string

// needs returns the requirements of the module that are known before init. It lacks the
// requirements of modules that init downloads, and those of files that cannot be parsed: several
// runs may download such providers at once. It is incomplete if ctx ends.
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

	m := moduleReader{fsys: regular.FS(root, terraform.MaxFile), registry: r.Registry, all: all, seen: map[file]bool{}}
	m.read(ctx, filepath.ToSlash(dir))

	return all
}

// missingFrom returns the addresses for which no acceptable package fulfils the requirements. The
// registry is not asked: an older version that fulfils them is enough.
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

// A moduleFile is a file of a module. It has only the blocks about providers.
type moduleFile struct {
	Terraform []struct {
		Required []struct {
			Providers hcl.Body `hcl:",remain"`
		} `hcl:"required_providers,block"`
		Rest hcl.Body `hcl:",remain"`
	} `hcl:"terraform,block"`
	Providers []struct {
		Name string   `hcl:"name,label"`
		Rest hcl.Body `hcl:",remain"`
	} `hcl:"provider,block"`
	Modules []struct {
		Name   string         `hcl:"name,label"`
		Source hcl.Expression `hcl:"source,optional"`
		Rest   hcl.Body       `hcl:",remain"`
	} `hcl:"module,block"`
	Resources []resource `hcl:"resource,block"`
	Data      []resource `hcl:"data,block"`
	Ephemeral []resource `hcl:"ephemeral,block"`
	Rest      hcl.Body   `hcl:",remain"`
}

// addProviders adds what the file says about providers, by the names that the module has for them.
// An explicit requirement takes precedence over the use of a provider, which needs none.
func (f moduleFile) addProviders(to map[string]requirement) {
	for _, t := range f.Terraform {
		for _, block := range t.Required {
			attributes, _ := block.Providers.JustAttributes()
			for name, a := range attributes {
				to[name] = newRequirement(a.Expr)
			}
		}
	}

	use := func(name string) {
		if _, ok := to[name]; !ok {
			to[name] = requirement{}
		}
	}

	for _, p := range f.Providers {
		use(p.Name)
	}

	for _, r := range slices.Concat(f.Resources, f.Data, f.Ephemeral) {
		use(r.provider())
	}
}

type resource struct {
	Type     string         `hcl:"type,label"`
	Name     string         `hcl:"name,label"`
	Provider hcl.Expression `hcl:"provider,optional"`
	Rest     hcl.Body       `hcl:",remain"`
}

// provider returns the name of the provider of a resource.
func (r resource) provider() string {
	if t, diags := hcl.AbsTraversalForExpr(r.Provider); !diags.HasErrors() {
		return t.RootName()
	}

	name, _, _ := strings.Cut(r.Type, "_")

	return name
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
	fsys     fs.FS
	registry string
	all      requirements

	// seen has the directories themselves: links in circles give a directory any number of paths.
	seen map[file]bool
}

// A file is the identity of a file or directory.
type file struct{ device, inode uint64 }

// visit says whether a directory exists and is visited for the first time.
func (m *moduleReader) visit(dir string) bool {
	info, err := fs.Stat(m.fsys, dir)
	if err != nil {
		return false
	}

	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}

	id := file{uint64(stat.Dev), stat.Ino} //nolint:unconvert // Not the same type everywhere.
	first := !m.seen[id]
	m.seen[id] = true

	return first
}

// read the module in a directory.
func (m *moduleReader) read(ctx context.Context, dir string) {
	if ctx.Err() != nil || !m.visit(dir) {
		return
	}

	providers := map[string]requirement{}

	entries, _ := fs.ReadDir(m.fsys, dir)
	for _, e := range entries {
		if _, ok := terraform.ConfigurationFile(e.Name()); !ok {
			continue
		}

		f := m.parse(path.Join(dir, e.Name()))
		f.addProviders(providers)

		for _, call := range f.Modules {
			if source := literal(call.Source); strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
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

	return strings.Join(append([]string{m.registry, "hashicorp"}[:3-len(parts)], parts...), "/")
}

// parse parses a file. After errors, the parsed part is enough.
func (m *moduleReader) parse(name string) moduleFile {
	f := moduleFile{}

	src, err := fs.ReadFile(m.fsys, name)
	if err != nil {
		return f
	}

	if parsed, ok := terraform.ParseFile(src, name); ok {
		_ = gohcl.DecodeBody(parsed.Body, nil, &f)
	}

	return f
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
