// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// treeName is the file that records which module is in the directory.
	treeName = ".crossplane-module.json"

	// fetchPrefix is what the names of temporary directories start with.
	fetchPrefix = ".crossplane-fetch-"

	// gitDir holds the history of a module. Its files belong together: it is
	// replaced as a whole.
	gitDir = ".git"
)

// A tree is the record of the module in the directory. It names every file, so
// that whatever the CLI wrote between them, a state above all, is never touched.
type tree struct {
	// Revision of the module. Empty while its files are being replaced.
	Revision string `json:"revision,omitempty"`

	// Files that are, or may be, there because of a module.
	Files []string `json:"files"`
}

// TempDir makes an empty directory in this one, for a tree that ReplaceTree is to
// move into place, and returns its absolute path. The caller removes it. What
// earlier ones left behind, because a process was killed, is removed here.
func (d *Dir) TempDir() (string, error) {
	root, err := d.open()
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	if err := sweepTempDirs(root); err != nil {
		return "", err
	}
	name := fetchPrefix + rand.Text()
	if err := root.Mkdir(name, 0o700); err != nil {
		return "", errors.Wrap(err, "cannot create temporary directory")
	}
	return filepath.Join(d.Path(), name), nil
}

// ReplaceTree makes the files below src, a directory inside of one that TempDir
// returned, the module in this directory, and records its revision, which must
// not be empty. Files of the module before that are not part of the new one are
// removed, directories that become empty with them.
//
// Files that no module brought stay wherever they are. If one of them has a name
// that the new module uses, it is replaced, and no longer counts as written by
// Sync. What the CLI keeps state in is the exception: a module never brings,
// replaces or removes terraform.tfstate*, errored.tfstate, .terraform or a
// .crossplane* file, at any depth. Such entries of src are left out, as are names
// that are not UTF-8.
//
// Until everything is in place and on disk the record has no revision, so that a
// tree that is half replaced, for whatever reason, counts as none.
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
	defer root.Close() //nolint:errcheck // What was written is synced.

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
	if err := disown(root, files); err != nil {
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

// TreeRevision returns the revision that ReplaceTree recorded. It is empty if there
// is no complete tree: none at all, one that is half replaced, one that misses a
// file, or one with a file that an input written by Sync covers. The last is
// because Sync removes its inputs when they are no longer wanted, and has nothing
// to put in their place; whether it will do so next is not known here. A module
// that has a file of the same name as an input is therefore fetched for every run.
func (d *Dir) TreeRevision() string {
	t := d.completeTree()
	return t.Revision
}

// TreeFiles returns the slash separated names of the files of the tree, in order,
// relative to the directory; none if the tree is not complete.
func (d *Dir) TreeFiles() []string {
	t := d.completeTree()
	return t.Files
}

// RemoveTree removes the files of the module that ReplaceTree put here, and what is
// left of any other. It succeeds if there are none.
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

// completeTree returns the record of the tree if it is complete, and an empty one
// otherwise.
func (d *Dir) completeTree() tree {
	root, err := d.open()
	if err != nil {
		return tree{}
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	t, err := readTree(root)
	if err != nil || t.Revision == "" {
		return tree{}
	}
	inputs, err := readManifest(root)
	if err != nil {
		return tree{}
	}
	for _, name := range t.Files {
		if _, covered := inputs[name]; covered {
			return tree{}
		}
		if _, err := root.Lstat(name); err != nil {
			return tree{}
		}
	}
	return t
}

// inTempDir returns the path of src relative to this directory. It fails if that
// is not inside of a temporary directory.
func (d *Dir) inTempDir(src string) (string, error) {
	rel, err := filepath.Rel(d.Path(), src)
	if err != nil || !filepath.IsLocal(rel) || !strings.HasPrefix(rel, fetchPrefix) || !strings.Contains(rel, "/") {
		return "", errors.Errorf("cannot use %q as a module: it is not in a temporary directory of %q", src, d.Path())
	}
	return rel, nil
}

// readTree returns the record of the tree, empty if there is none.
func readTree(root *os.Root) (tree, error) {
	data, err := root.ReadFile(treeName)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, nil
	}
	if err != nil {
		return tree{}, errors.Wrap(err, "cannot read the record of the module")
	}
	t := tree{}
	if err := json.Unmarshal(data, &t); err != nil {
		return tree{}, errors.Wrapf(err, "cannot parse the record of the module, %q", treeName)
	}
	// What is read here gets deleted.
	for _, name := range t.Files {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || reservedPath(name) {
			return tree{}, errors.Errorf("cannot use the record of the module, %q: %q is no file of a module", treeName, name)
		}
	}
	return t, nil
}

func (t tree) write(root *os.Root) error {
	data, err := json.Marshal(t)
	if err != nil {
		return errors.Wrap(err, "cannot encode the record of the module")
	}
	return errors.Wrap(writeFile(root, treeName, data), "cannot write the record of the module")
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

// reserved reports whether no module may have a file of that name, in whatever
// directory: the CLI or this package keeps something there.
func reserved(base string) bool {
	return base == dataDir || base == "errored.tfstate" ||
		strings.HasPrefix(base, "terraform.tfstate") || strings.HasPrefix(base, ".terraform.tfstate") ||
		strings.HasPrefix(base, ownPrefix)
}

func reservedPath(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), reserved)
}

// checkReplaceable fails if name is a directory in which there is a state: to make
// it a file, which is what the new module wants, would lose that.
func checkReplaceable(root *os.Root, name string) error {
	if path.Base(name) == gitDir || checkDir(root, name) != nil {
		return nil //nolint:nilerr // What is no directory can be replaced.
	}
	return fs.WalkDir(root.FS(), name, func(found string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return errors.Wrapf(err, "cannot look for a state in %q", name)
		case e.Name() == dataDir:
			// Its file of that name merely says which backend is used.
			return fs.SkipDir
		case strings.HasPrefix(e.Name(), "terraform.tfstate"), e.Name() == "errored.tfstate":
			return errors.Errorf("cannot use module: %q is a file in it, but a directory with a state here: move %q away", name, found)
		}
		return nil
	})
}

// disown makes Sync forget that it wrote these files, so that it does not remove
// what has become a file of the module.
func disown(root *os.Root, files []string) error {
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

// removeFiles removes these files of a tree, those that are there, and the
// directories that they leave empty.
func removeFiles(root *os.Root, files []string) error {
	emptied := map[string]bool{}
	for _, name := range files {
		err := removeInput(root, name)
		if path.Base(name) == gitDir && err == nil && checkDir(root, name) == nil {
			err = root.RemoveAll(name)
		}
		if err != nil {
			return errors.Wrapf(err, "cannot remove %q of module", name)
		}
		for _, dir := range parents(name) {
			emptied[dir] = true
		}
	}
	// The deepest come first: a directory sorts before what is in it.
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(emptied))) {
		if checkDir(root, dir) == nil {
			_ = root.Remove(dir) // It is not always empty.
		}
	}
	return nil
}

// placeDir makes sure that name is a directory. Its parents are.
func placeDir(root *os.Root, name string) error {
	err := root.Mkdir(name, 0o700)
	if !errors.Is(err, fs.ErrExist) || checkDir(root, name) == nil {
		return ignoreExist(err)
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	return root.Mkdir(name, 0o700)
}

func ignoreExist(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// placeFile moves a file of the new tree to where it belongs, whatever is there.
// Its parents are directories.
func placeFile(root *os.Root, from, to string) error {
	// What has to be a file or a history now may be a directory, and the other way
	// around; a rename replaces only like with like, and no directory with files.
	if checkDir(root, from) == nil || checkDir(root, to) == nil {
		if err := root.RemoveAll(to); err != nil {
			return err
		}
	}
	return root.Rename(from, to)
}

// sweepTempDirs removes all temporary directories.
func sweepTempDirs(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return errors.Wrap(err, "cannot list working directory")
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), fetchPrefix) {
			continue
		}
		if err := root.RemoveAll(e.Name()); err != nil {
			return errors.Wrap(err, "cannot remove temporary directory")
		}
	}
	return nil
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
