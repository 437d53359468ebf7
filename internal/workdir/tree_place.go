// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// checkReplaceable fails if name, a file in the new module, is a directory with a state in it: a
// replacement would lose the state.
func checkReplaceable(root *os.Root, name string) error {
	if path.Base(name) == gitDir || checkDir(root, name) != nil {
		return nil //nolint:nilerr // Everything except a directory can be replaced.
	}

	return fs.WalkDir(root.FS(), name, func(found string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot check for a state in %q: %w", name, err)
		case e.Name() == dataDir:
			// Its file of that name only records the backend.
			return fs.SkipDir
		case strings.HasPrefix(e.Name(), "terraform.tfstate"), strings.HasPrefix(e.Name(), unsavedName):
			return fmt.Errorf("cannot use module: %q is a file in it, but a directory with a state here: move %q away", name, found)
		}

		return nil
	})
}

// removeFiles removes the existing ones of these files of a tree, and directories that become
// empty.
func removeFiles(root *os.Root, files []string) error {
	emptied := map[string]bool{}

	for _, name := range files {
		err := removeInput(root, name)
		if path.Base(name) == gitDir && err == nil && checkDir(root, name) == nil {
			err = root.RemoveAll(name)
		}

		if err != nil {
			return fmt.Errorf("cannot remove %q of module: %w", name, err)
		}

		for _, dir := range parents(name) {
			emptied[dir] = true
		}
	}
	// The deepest directories come first: a directory sorts before its content.
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(emptied))) {
		if checkDir(root, dir) == nil {
			_ = root.Remove(dir) // It is not always empty.
		}
	}

	return nil
}

// placeDir makes sure that name is a directory. Its parents already are.
func placeDir(root *os.Root, name string) error {
	if checkDir(root, name) == nil {
		return nil
	}

	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	return root.Mkdir(name, 0o700)
}

// placeFile moves a file of the new tree to its place, and replaces anything there. Its parents
// are directories.
func placeFile(root *os.Root, from, to string) error {
	// A file or a history may replace a directory, or the reverse. A rename replaces neither, nor
	// a directory with files.
	if checkDir(root, from) == nil || checkDir(root, to) == nil {
		if err := root.RemoveAll(to); err != nil {
			return err
		}
	}

	return root.Rename(from, to)
}
