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
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// ownPrefix begins the names that are reserved in the whole directory.
	ownPrefix = ".crossplane"

	tempName = ".crossplane-temporary"
)

// A File is an input of the CLI.
type File struct {
	Data []byte

	// Secret files are removed by RemoveSecrets.
	Secret bool
}

// A Dir is the directory of one Workspace, until it is closed. Its methods must not be called
// concurrently: only the one reconcile of the Workspace may use it.
//
// The CLI and the programs that a module runs can write to the directory, too. Its content is
// therefore not trusted: no symbolic link is followed on the way to an input, and files outside
// are never touched.
type Dir struct {
	root *Root
	uid  string

	// dir stays open, so that it is always the same directory.
	dir *os.Root
}

// Path of the directory, absolute.
func (d *Dir) Path() string { return filepath.Join(d.root.path, d.uid) }

// Sync replaces the inputs in the directory with the given ones, by their slash separated names
// relative to the directory. It writes the files that differ, and removes the inputs of an
// earlier Sync that are not given now. Each file is replaced as a whole, has mode 0600, and keeps
// its modification time if its content does not change. Sync leaves files of other writers alone
// unless a given name is theirs.
//
// later are the names of secret files that the next Sync will get: they count as given, but are
// not written yet.
//
// Names that lead out of the directory, or that are reserved for files of the provider, are
// refused before anything is written.
func (d *Dir) Sync(files map[string]File, later ...string) error {
	listed := newInputs(files, later...)
	for name := range listed {
		if err := checkName(name); err != nil {
			return err
		}
	}

	m, err := d.readManifest()
	if err != nil {
		return err
	}

	// The new files are recorded before they are written: after a failure at any point, the next
	// Sync knows every file in the directory.
	all := newInputs(nil)
	maps.Copy(all, m.Inputs)
	maps.Copy(all, listed)

	if err := d.recordInputs(m, all); err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeInput(d.dir, name, files[name]); err != nil {
			return fmt.Errorf("cannot write %q: %w", name, err)
		}
	}

	for name := range all {
		if _, ok := listed[name]; ok {
			continue
		}

		if err := removeInput(d.dir, name); err != nil {
			return fmt.Errorf("cannot remove %q: %w", name, err)
		}
	}

	return d.recordInputs(m, listed)
}

// newInputs lists the files, and the names of further secret files.
func newInputs(files map[string]File, secret ...string) map[string]input {
	listed := make(map[string]input, len(files)+len(secret))
	for name, f := range files {
		listed[name] = input{Secret: f.Secret}
	}

	for _, name := range secret {
		listed[name] = input{Secret: true}
	}

	return listed
}

// recordInputs writes the inputs to the manifest, unless it has them: a poll does not wait for
// the disk.
func (d *Dir) recordInputs(m *manifest, inputs map[string]input) error {
	if maps.Equal(m.Inputs, inputs) {
		return nil
	}

	m.Inputs = inputs

	return d.writeManifest(m)
}

// RemoveSecrets removes the secret files that Sync wrote, and temporary directories, which may
// contain credentials. It is called after every run, also after a failed one. It succeeds if
// there is nothing to remove.
func (d *Dir) RemoveSecrets() error {
	m, err := d.readManifest()
	if err != nil {
		return err
	}

	// The file that an interrupted Sync was writing may contain a part of a secret.
	errs := []error{removeInput(d.dir, tempName), d.sweepTempDirs()}

	for name, in := range m.Inputs {
		if !in.Secret {
			continue
		}

		if err := removeInput(d.dir, name); err != nil {
			errs = append(errs, fmt.Errorf("cannot remove %q: %w", name, err))
		}
	}

	return errors.Join(errs...)
}

// badEntrypoint names the field of the specification.
const badEntrypoint = "cannot use spec.forProvider.entrypoint %q"

// Entrypoint returns the absolute path of a directory below this one. An empty entrypoint or a
// slash is this directory itself: a leading slash is ignored. The path has no symbolic links
// below Path. Relative to Path, it can therefore begin names for Sync.
func (d *Dir) Entrypoint(entrypoint string) (string, error) {
	rel, err := d.resolve(entrypoint)
	if err != nil {
		return "", fmt.Errorf(badEntrypoint+": %w", entrypoint, reason(err))
	}

	return filepath.Join(d.Path(), rel), nil
}

// resolve returns the path of the entrypoint, relative and without symbolic
// links.
func (d *Dir) resolve(entrypoint string) (string, error) {
	rel, err := clean(entrypoint)
	if err != nil {
		return "", err
	}

	// os.Root ensures that the path stays inside. The rest of this function only computes it.
	info, err := d.dir.Stat(rel)
	if err != nil {
		return "", err
	}

	if !info.IsDir() {
		return "", errors.New("not a directory")
	}

	base, err := filepath.EvalSymlinks(d.Path())
	if err != nil {
		return "", err
	}

	target, err := filepath.EvalSymlinks(filepath.Join(base, rel))
	if err != nil {
		return "", err
	}

	rel, err = filepath.Rel(base, target)
	if err != nil {
		return "", err
	}

	if !filepath.IsLocal(rel) {
		return "", errors.New("it leaves the module")
	}

	return rel, nil
}

// CleanEntrypoint returns the path of the entrypoint relative to the directory of the Workspace,
// "." for that directory itself. Unlike Dir.Entrypoint it does not access the directory. It can
// therefore name files for the Sync that creates the directory.
func CleanEntrypoint(entrypoint string) (string, error) {
	rel, err := clean(entrypoint)
	if err != nil {
		return "", fmt.Errorf(badEntrypoint+": %w", entrypoint, err)
	}

	return rel, nil
}

func clean(entrypoint string) (string, error) {
	rel := filepath.Clean(strings.TrimLeft(entrypoint, "/"))
	if !filepath.IsLocal(rel) {
		return "", errors.New("it leaves the module")
	}

	return rel, nil
}

// Close the directory. It must not be used any more.
func (d *Dir) Close() error { return d.dir.Close() }

// checkName refuses the names that Sync cannot use.
func checkName(name string) error {
	switch {
	// The manifest is JSON, which cannot contain every possible name of a file.
	case name == "", name == ".", !filepath.IsLocal(name), path.Clean(name) != name, !utf8.ValidString(name):
		return fmt.Errorf("cannot write %q: that is not the name of a file in the working directory", name)
	case strings.Contains("/"+name, "/"+ownPrefix):
		return fmt.Errorf("cannot write %q: names that begin with %q are reserved", name, ownPrefix)
	}

	return nil
}

// writeInput writes a file unless it exists with the right content and mode.
func writeInput(root *os.Root, name string, f File) error {
	if err := mkParents(root, name); err != nil {
		return err
	}

	if same, err := hasContent(root, name, f.Data); same || err != nil {
		return err
	}
	// A secret is removed when its run is over: it need not be synced to disk.
	return replaceFile(root, name, f.Data, !f.Secret)
}

// mkParents creates the parent directories of name. It fails if one of them is a symbolic link.
func mkParents(root *os.Root, name string) error {
	for _, dir := range parents(name) {
		err := root.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = checkDir(root, dir)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// removeInput removes a file if it exists. If one of its parent directories was replaced, the
// file below is not the written one, and stays.
func removeInput(root *os.Root, name string) error {
	if slices.ContainsFunc(parents(name), func(dir string) bool { return checkDir(root, dir) != nil }) {
		return nil
	}

	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return nil
	}

	return root.Remove(name)
}

// hasContent reports whether name is a regular file with this content and mode
// 0600.
func hasContent(root *os.Root, name string, data []byte) (bool, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular(), info.Mode().Perm() != 0o600, info.Size() != int64(len(data)):
		return false, nil
	}

	got, err := regular.ReadIn(root, name, int64(len(data)))

	return string(got) == string(data), err
}

// replaceFile writes a file in place of any other of that name. The content is complete before
// the file gets the name. If it is to be durable, it is also on disk by then: other content may
// be lost if the machine fails. The name itself may be lost in any case, and stay that of the
// earlier file.
func replaceFile(root *os.Root, name string, data []byte, durable bool) error {
	if err := root.RemoveAll(tempName); err != nil {
		return err
	}

	f, err := root.OpenFile(tempName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}

	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}

	if closeErr := f.Close(); err == nil {
		err = closeErr
	}

	if err == nil {
		err = root.Rename(tempName, name)
	}

	if err != nil {
		_ = root.Remove(tempName)
	}

	return err
}

// checkDir fails unless name is a directory. A link to a directory does not count.
func checkDir(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}

	if !info.IsDir() {
		return fmt.Errorf("%q is not a directory", name)
	}

	return nil
}

// parents returns the directories that name is in, from the outermost.
func parents(name string) []string {
	var dirs []string

	for i, r := range name {
		if r == '/' {
			dirs = append(dirs, name[:i])
		}
	}

	return dirs
}
