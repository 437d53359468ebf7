// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// gitDir has the history of a module. Its files depend on each other: it is replaced as a whole.
	gitDir = ".git"

	// maxFiles and maxNames limit the number of files and directories of a module, and the bytes of their
	// paths: all of them are in memory.
	maxFiles = 200_000
	maxNames = 16 << 20

	// lockName is the file with the versions and checksums of providers.
	lockName = ".terraform.lock.hcl"

	// fetchPrefix begins the names of temporary directories.
	fetchPrefix = ".crossplane-fetch-"
)

// TempDir makes an empty directory in this one, for a tree that ReplaceTree is to move into
// place, and returns its absolute path. The caller removes it. TempDir also removes those of killed
// processes.
func (d *Dir) TempDir() (string, error) {
	if err := d.sweepTempDirs(); err != nil {
		return "", err
	}

	name := fetchPrefix + rand.Text()
	if err := d.dir.Mkdir(name, 0o700); err != nil {
		return "", fmt.Errorf("cannot create temporary directory: %w", err)
	}

	return filepath.Join(d.Path(), name), nil
}

// sweepTempDirs removes all temporary directories.
func (d *Dir) sweepTempDirs() error {
	names, err := namesWith(d.dir, ".", fetchPrefix)
	if err != nil {
		return err
	}

	for _, name := range names {
		if err := d.dir.RemoveAll(name); err != nil {
			return fmt.Errorf("cannot remove temporary directory: %w", err)
		}
	}

	return nil
}

// ReplaceTree moves the files below src, a directory inside one that TempDir returned, into place
// as the module in this directory. It records their revision, which must not be empty. Files of
// the earlier module that are not part of the new one are removed, and so are directories that
// become empty.
//
// Other files stay. If one of them has a name that the new module uses, it is replaced, and no
// longer counts as written by Sync. But a module never adds, replaces or removes files of the CLI or
// the provider, at any depth: see reserved and localStates. Such entries of src are left out, and so are
// names that are not UTF-8. Lock files of the same revision that are there stay.
//
// Until everything is in place and on disk, the record has no revision, so that a partly replaced
// tree does not count as a module.
func (d *Dir) ReplaceTree(src, revision string) error {
	rel, err := filepath.Rel(d.Path(), src)
	if err != nil {
		return fmt.Errorf("cannot use module: %w", err)
	}

	m, err := d.readManifest()
	if err != nil {
		return err
	}

	dirs, files, err := listTree(d.dir.FS(), rel)
	if err != nil {
		return fmt.Errorf("cannot list module: %w", err)
	}

	if len(files) == 0 {
		return errors.New("cannot use module: it is empty")
	}

	for _, name := range files {
		if err := checkReplaceable(d.dir, name); err != nil {
			return err
		}
	}

	states := d.localStates(m, dirs...)
	if err := d.checkStates(states, dirs, files); err != nil {
		return err
	}

	files = slices.DeleteFunc(files, states.Has)

	unchanged := revision == m.Module.Revision
	before, after := sets.New(m.Module.Files...), sets.New(files...)
	m.Module = module{Files: sets.List(before.Union(after))}

	// Sync must not remove a file that is part of the module now.
	for _, name := range files {
		delete(m.Inputs, name)
	}

	if err := d.writeManifest(m); err != nil {
		return err
	}

	if err := removeFiles(d.dir, sets.List(before.Difference(after).Difference(states))); err != nil {
		return err
	}

	if err := d.placeTree(rel, dirs, files, unchanged); err != nil {
		return err
	}

	if err := syncFilesystem(d.dir); err != nil {
		return fmt.Errorf("cannot write module to disk: %w", err)
	}

	m.Module = module{Revision: revision, Files: files}

	return d.writeManifest(m)
}

// placeTree moves the files of the tree in rel into place.
func (d *Dir) placeTree(rel string, dirs, files []string, keepLocks bool) error {
	for _, name := range dirs {
		if err := placeDir(d.dir, name); err != nil {
			return fmt.Errorf("cannot create directory %q of module: %w", name, err)
		}
	}

	for _, name := range files {
		if keepLocks && isLockFile(d.dir, name) {
			continue
		}

		if err := placeFile(d.dir, path.Join(rel, name), name); err != nil {
			return fmt.Errorf("cannot move %q of module into place: %w", name, err)
		}
	}

	return nil
}

// isLockFile says whether name is a lock file that is there. Init completes one that lacks a provider, or a checksum for
// this platform. If each fetch of a source without a revision undid that, each poll would need init.
func isLockFile(root *os.Root, name string) bool {
	info, err := root.Lstat(name)

	return path.Base(name) == lockName && err == nil && info.Mode().IsRegular()
}

// RemoveTree removes the files of the module that ReplaceTree moved here, and temporary directories.
// It succeeds if there are none.
func (d *Dir) RemoveTree() error {
	if err := d.sweepTempDirs(); err != nil {
		return err
	}

	m, err := d.readManifest()
	if err != nil || len(m.Module.Files) == 0 {
		return err
	}

	if err := removeFiles(d.dir, slices.DeleteFunc(m.Module.Files, d.localStates(m).Has)); err != nil {
		return err
	}

	m.Module = module{}

	return d.writeManifest(m)
}

// TreeRevision returns the revision that ReplaceTree recorded. It is empty if there is no complete
// tree: none at all, one that is partly replaced, one without some of its files, or one with a file
// that an input of Sync has replaced, which Sync could not restore. A module with a file of the same
// name as an input is therefore fetched for every run.
func (d *Dir) TreeRevision() string { return d.completeTree().Revision }

// TreeFiles returns the slash separated names of the files of the tree, in order. It returns none if
// the tree is not complete.
func (d *Dir) TreeFiles() []string { return d.completeTree().Files }

// completeTree returns the module if it is complete, and an empty one otherwise.
func (d *Dir) completeTree() module {
	m, err := d.readManifest()
	if err != nil || m.Module.Revision == "" {
		return module{}
	}

	for _, name := range m.Module.Files {
		if _, covered := m.Inputs[name]; covered {
			return module{}
		}

		if _, err := d.dir.Lstat(name); err != nil {
			return module{}
		}
	}

	return m.Module
}

// listTree returns the names, relative to dir, of the directories and files below it that a module
// may have. Each directory comes before those inside.
func listTree(fsys fs.FS, dir string) (dirs, files []string, err error) {
	names := 0

	err = fs.WalkDir(fsys, dir, func(name string, e fs.DirEntry, err error) error {
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
		names += len(rel)

		if len(dirs)+len(files) >= maxFiles || names > maxNames {
			return fmt.Errorf("it has more than %d files and directories, or paths of more than %s in all: use a smaller module, or a directory of it", maxFiles, regular.Size(maxNames))
		}

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

// reserved reports whether no module may have a file of that name, in any directory, because the CLI
// or the provider keeps a state or other data there.
func reserved(base string) bool {
	return base == dataDir || base == unsavedName || strings.HasPrefix(base, unsavedName+SupersededSuffix) ||
		isState(base) || strings.HasPrefix(base, ".terraform.tfstate") || strings.HasPrefix(base, ownPrefix)
}

// isState reports whether the CLI may keep a state, a backup of one, or states of CLI workspaces under that name. A
// configuration may be named terraform.tfstate.tf: without it, the CLI would destroy what it declares.
func isState(base string) bool {
	return strings.HasPrefix(base, "terraform.tfstate") && !slices.Contains([]string{".tf", ".tofu", ".json", ".tfvars"}, path.Ext(base))
}

func reservedPath(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), reserved)
}

// syncFilesystem writes all changes in the file system of root to disk: after a power failure, the
// record must not be there without its files. One call is cheaper than one for every file.
func syncFilesystem(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // Nothing is written through it.

	return unix.Syncfs(int(dir.Fd()))
}

// checkReplaceable fails if name, a file in the new module, is a directory with a state in it.
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
			return fmt.Errorf(stateInWay, name, found)
		}

		return nil
	})
}

// removeFiles removes these files of a tree, and directories that become empty.
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

// placeFile moves a file of the new tree to its place, and replaces anything there.
func placeFile(root *os.Root, from, to string) error {
	// A rename does not replace a file by a directory, nor the reverse, nor a directory with files.
	if checkDir(root, from) == nil || checkDir(root, to) == nil {
		if err := root.RemoveAll(to); err != nil {
			return err
		}
	}

	return root.Rename(from, to)
}
