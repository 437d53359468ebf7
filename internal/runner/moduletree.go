// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/vars"
)

// An unreadFile declares resources, or calls modules, and only OpenTofu reads it.
type unreadFile struct {
	name string

	// declares has the addresses of its resources and modules, without keys.
	declares []string
}

// unread returns a warning for each file of the module, and of the modules that it calls, that declares resources for OpenTofu only. The
// directory must be initialized.
func (r *Runner) unread() terraform.Warnings {
	w := terraform.Warnings{}
	for _, f := range r.unreadFiles() {
		w.First = append(w.First, terraform.Diagnostic{File: f.name, Summary: "Unread file", Detail: r.CLI.String() + " does not read it: " + readIt})
	}

	return w
}

// CheckUnread returns an error if such a file declares a resource that is in the state: the CLI would destroy it, even if the file
// protects it.
func (r *Runner) CheckUnread(s *terraform.State) error {
	for _, f := range r.unreadFiles() {
		for _, declared := range f.declares {
			if address := s.Find(declared); address != "" {
				return errors.Errorf("%s declares %s, and %s does not read it, so that it would destroy that. Nothing was changed. To keep it, %s", f.name, address, r.CLI, readIt)
			}
		}
	}

	return nil
}

const readIt = "set spec.forProvider.cli.product to OpenTofu, in version 1.8 or later, or give the file the extension .tf"

// unreadFiles returns the files that the CLI does not read. A file, or a directory, that cannot be read or parsed counts as empty.
func (r *Runner) unreadFiles() []unreadFile {
	if r.CLI.Since(terraform.OpenTofu, "1.8.0") {
		return nil
	}

	return r.readModules().unread
}

// readModules reads the module and those that it calls.
func (r *Runner) readModules() moduleTree {
	root, err := os.OpenRoot(r.Dir.Path())
	if err != nil {
		return moduleTree{}
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	m := moduleTree{cli: r.CLI, fsys: regular.FS(root, terraform.MaxFile), entrypoint: r.Inputs.parameters.Entrypoint, dirs: r.moduleDirs()}
	m.read("", ".", "")

	return m
}

// moduleDirs returns the directories of the modules that init has installed, relative to the entrypoint, by their keys: "a.b" is the one
// that module a calls b.
func (r *Runner) moduleDirs() map[string]string {
	var installed struct {
		Modules []struct {
			Key string `json:"Key"`
			Dir string `json:"Dir"`
		} `json:"Modules"`
	}

	// Without called modules, init writes no such file.
	if data, err := regular.Read(filepath.Join(r.run.Dir, terraform.DataDir, "modules", "modules.json"), terraform.MaxFile); err == nil {
		_ = json.Unmarshal(data, &installed)
	}

	dirs := map[string]string{}
	for _, m := range installed.Modules {
		dirs[m.Key] = filepath.ToSlash(m.Dir)
	}

	return dirs
}

// A moduleTree looks for unread files, and for removed blocks, in a module and in those that it calls. The record of init alone does not
// do: it keeps modules that are not called any more.
type moduleTree struct {
	cli        *terraform.CLI
	fsys       fs.FS
	entrypoint string
	dirs       map[string]string
	unread     []unreadFile

	// removed has the addresses that an apply would forget, without the keys of the modules.
	removed []string
}

// read the module with the supplied key, in a directory relative to the entrypoint. prefix begins the addresses in it.
func (m *moduleTree) read(key, dir, prefix string) {
	here := path.Join(m.entrypoint, dir)
	entries, _ := fs.ReadDir(m.fsys, here)

	for _, name := range m.cli.Unread(entries) {
		f := unreadFile{name: path.Join(dir, name)}
		src, _ := fs.ReadFile(m.fsys, path.Join(here, name))

		resources, calls := terraform.DeclaredResources(src, name)
		for _, address := range resources {
			f.declares = append(f.declares, prefix+address)
		}

		for _, call := range calls {
			f.declares = append(f.declares, prefix+"module."+call)
		}

		if len(f.declares) > 0 {
			m.unread = append(m.unread, f)
		}
	}

	for _, name := range m.cli.Files(entries) {
		src, _ := fs.ReadFile(m.fsys, path.Join(here, name))

		for _, from := range vars.Removed(src, name, m.cli.Product) {
			m.removed = append(m.removed, prefix+from)
		}

		_, calls := terraform.DeclaredResources(src, name)
		for _, call := range calls {
			child := strings.TrimPrefix(key+"."+call, ".")
			// Override files may repeat a call. Each module is read once, or a few calls on a few levels would take for ever.
			if dir, ok := m.dirs[child]; ok {
				delete(m.dirs, child)
				m.read(child, dir, prefix+"module."+call+".")
			}
		}
	}
}
