// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// statePath returns the absolute path of the state of a backend "local", according to the record of init in dir, a directory in root,
// which is at base. It returns "" if there is no such backend, or no path in it.
func statePath(root *os.Root, base, dir string) string {
	// A directory without a readable record has no backend.
	b, err := ReadBackend(root, dir)

	name, _ := b.Config["path"].(string)
	if err != nil || b.Type != "local" || name == "" {
		return ""
	}

	if !filepath.IsAbs(name) {
		name = filepath.Join(base, dir, name)
	}

	return name
}

// noteState adds the path of the state to the manifest if init in the entrypoint has configured a backend "local" with one. It
// stays there: the next init may remove its record and fail.
func (d *Dir) noteState(m *manifest, entrypoint string) {
	name := statePath(d.dir, d.Path(), entrypoint)
	if name == "" {
		return
	}

	rel, err := filepath.Rel(d.Path(), name)
	if err != nil || !filepath.IsLocal(rel) {
		rel, err = regular.Rel(d.Path(), name) // It may lead here over links.
	}

	if err == nil && filepath.IsLocal(rel) && !slices.Contains(m.States, rel) {
		m.States = append(m.States, rel)
	}
}

// localStates returns the names of the states of local backends that exist in this directory. They may be names of files in the
// repository of the module, because people commit their states. dirs are those of the next module.
func (d *Dir) localStates(m *manifest, dirs ...string) sets.Set[string] {
	// An earlier version, or another provider, has not recorded them. Init ran in one of these directories.
	if m.Initialized != nil {
		dirs = append(dirs, m.Initialized.Entrypoint)
	}

	for dir := range dirsOf(m.Module.Files).Insert(dirs...) {
		d.noteState(m, dir)
	}

	states := sets.New[string]()

	for _, name := range m.States {
		if _, err := d.dir.Lstat(name); err != nil {
			continue
		}

		states.Insert(name)

		if target, err := regular.Rel(d.Path(), filepath.Join(d.Path(), name)); err == nil {
			states.Insert(target)
		}
	}

	return states
}

func dirsOf(files []string) sets.Set[string] {
	dirs := sets.New(".")
	for _, name := range files {
		dirs.Insert(path.Dir(name))
	}

	return dirs
}

// checkStates fails if the new module has a directory in place of one of these states, or a file in place of a directory with one.
func (d *Dir) checkStates(states sets.Set[string], dirs, files []string) error {
	for state := range states {
		if slices.Contains(dirs, state) {
			return fmt.Errorf("cannot use module: %q is a directory in it, but the state of its local backend here: move that away", state)
		}

		for _, dir := range parents(state) {
			if slices.Contains(files, dir) && checkDir(d.dir, dir) == nil {
				return fmt.Errorf(stateInWay, dir, state)
			}
		}
	}

	return nil
}

// stateInWay is the error for a file of a module in place of a directory with a state.
const stateInWay = "cannot use module: %q is a file in it, but a directory with a state here: move %q away"
