// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// localState returns the path, below the root, of the state of a backend "local", according to the record
// of init in dir. It returns false if there is none in the directory of the Workspace with this UID.
func (r *Root) localState(uid, dir string) (string, bool) {
	// A directory without a readable record has no backend.
	b, err := ReadBackend(r.dir, dir)

	file, _ := b.Config["path"].(string)
	if err != nil || b.Type != "local" || file == "" {
		return "", false
	}

	if !path.IsAbs(file) {
		file = path.Join(r.Path(), dir, file)
	}

	name, err := regular.Rel(r.Path(), file)
	if err != nil || !strings.HasPrefix(name, uid+"/") {
		return "", false
	}

	info, err := r.dir.Lstat(name)

	return name, err == nil && info.Mode().IsRegular()
}

// localStates returns the names of the states that the module keeps in this directory, as the path of its backend "local" says. The
// names may be those of files in the repository of the module: people commit their states.
func (d *Dir) localStates() sets.Set[string] {
	states := sets.New[string]()

	_ = fs.WalkDir(d.dir.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil // The CLI cannot keep a state where it cannot read.
		case e.Name() == gitDir, strings.HasPrefix(name, fetchPrefix):
			return fs.SkipDir
		case e.Name() != dataDir:
			return nil
		}

		if state, ok := d.root.localState(d.uid, path.Join(d.uid, path.Dir(name))); ok {
			states.Insert(strings.TrimPrefix(state, d.uid+"/"))
		}

		return fs.SkipDir
	})

	return states
}

// checkStates fails if the new module has a directory in place of one of these states, or a file in place of a directory with one.
func checkStates(states sets.Set[string], dirs, files []string) error {
	for state := range states {
		if slices.Contains(dirs, state) {
			return fmt.Errorf("cannot use module: %q is a directory in it, but the state of its local backend here: move that away", state)
		}

		for _, dir := range parents(state) {
			if slices.Contains(files, dir) {
				return fmt.Errorf(stateInWay, dir, state)
			}
		}
	}

	return nil
}

// stateInWay is the error for a file of a module in place of a directory with a state.
const stateInWay = "cannot use module: %q is a file in it, but a directory with a state here: move %q away"
