// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// gitDir holds the history of a module. Its files belong together: it is
// replaced as a whole.
const gitDir = ".git"

// ReplaceTree makes the files below src, a directory inside of one that TempDir returned,
// the module in this directory, and records its revision, which must not be empty. Files
// of the earlier module that are not part of the new one are removed, directories that
// become empty with them.
//
// Files that no module brought stay in all directories. If one of them has a name that
// the new module uses, it is replaced, and no longer counts as written by Sync. The files
// in which the CLI keeps state are the exception: a module never brings, replaces or
// removes terraform.tfstate*, errored.tfstate, .terraform or a .crossplane* file, at any
// depth. Such entries of src are left out, as are names that are not UTF-8.
//
// Until everything is in place and on disk the record has no revision, so that a tree
// that is half replaced, for any reason, does not count as a module.
func (d *Dir) ReplaceTree(src, revision string) error { //nolint:cyclop // A list of steps, each of which may fail.
	if revision == "" {
		return errors.New("cannot replace module: it has no revision")
	}

	rel, err := d.inTempDir(src)
	if err != nil {
		return err
	}

	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // The written files are synced.

	old, err := readTree(root)
	if err != nil {
		return err
	}

	dirs, files, err := listTree(root, rel)
	if err != nil {
		return errors.Wrap(err, "cannot list module")
	}

	if len(files) == 0 {
		return errors.New("cannot use module: it is empty")
	}

	for _, name := range files {
		if err := checkReplaceable(root, name); err != nil {
			return err
		}
	}

	if err := (tree{Files: union(old.Files, files)}).write(root); err != nil {
		return err
	}

	if err := removeFromManifest(root, files); err != nil {
		return err
	}

	if err := removeFiles(root, subtract(old.Files, files)); err != nil {
		return err
	}

	for _, name := range dirs {
		if err := placeDir(root, name); err != nil {
			return errors.Wrapf(err, "cannot create directory %q of module", name)
		}
	}

	for _, name := range files {
		if err := placeFile(root, path.Join(rel, name), name); err != nil {
			return errors.Wrapf(err, "cannot move %q of module into place", name)
		}
	}

	if err := syncFilesystem(root); err != nil {
		return errors.Wrap(err, "cannot write module to disk")
	}

	return tree{Revision: revision, Files: files}.write(root)
}

// RemoveTree removes the files of the module that ReplaceTree put here, and the remains
// of any other. It succeeds if there are none.
func (d *Dir) RemoveTree() error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	if err := sweepTempDirs(root); err != nil {
		return err
	}

	t, err := readTree(root)
	if err != nil {
		return err
	}

	if len(t.Files) == 0 {
		return nil
	}

	if err := removeFiles(root, t.Files); err != nil {
		return err
	}

	return errors.Wrap(root.Remove(treeName), "cannot remove the record of the module")
}

// listTree returns the names, relative to dir, of the directories below it, each
// before those inside, and of the files. Names that a module may not use are left
// out.
func listTree(root *os.Root, dir string) (dirs, files []string, err error) {
	err = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir:
			return nil
		case reserved(e.Name()) || !utf8.ValidString(e.Name()):
			if e.IsDir() {
				return fs.SkipDir
			}

			return nil
		}

		rel := strings.TrimPrefix(name, dir+"/")
		if !e.IsDir() {
			files = append(files, rel)

			return nil
		}

		if e.Name() == gitDir {
			files = append(files, rel)

			return fs.SkipDir
		}

		dirs = append(dirs, rel)

		return nil
	})

	slices.Sort(files)

	return dirs, files, err
}

// reserved reports whether no module may have a file of that name in any directory,
// because the CLI or this package keeps data there.
func reserved(base string) bool {
	return base == dataDir || base == "errored.tfstate" ||
		strings.HasPrefix(base, "terraform.tfstate") || strings.HasPrefix(base, ".terraform.tfstate") ||
		strings.HasPrefix(base, ownPrefix)
}

func reservedPath(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), reserved)
}

// removeFromManifest makes Sync forget that it wrote these files, so that it does not
// remove a file that is part of the module now.
func removeFromManifest(root *os.Root, files []string) error {
	written, err := readManifest(root)
	if err != nil {
		return err
	}

	m := maps.Clone(written)
	for _, name := range files {
		delete(m, name)
	}

	return m.write(root, written)
}

// syncFilesystem writes everything to disk that was changed in the file system of
// root. A record that outlives a power failure its files do not survive would be
// wrong, and one call is cheaper than one for every file.
func syncFilesystem(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // Nothing is written through it.

	return unix.Syncfs(int(dir.Fd()))
}

// union returns the strings of both, sorted, each once.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)

	return slices.Compact(all)
}

// subtract returns the strings of a that are not in b.
func subtract(a, b []string) []string {
	in := make(map[string]bool, len(b))
	for _, s := range b {
		in[s] = true
	}

	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return in[s] })
}
