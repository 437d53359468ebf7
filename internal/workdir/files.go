// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

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

// A DirectoryError says that a directory has the name of an input.
type DirectoryError struct {
	Name string // Relative to the directory of the Workspace.
}

func (e *DirectoryError) Error() string {
	return fmt.Sprintf("the module has a directory %q: rename one of the two", e.Name)
}

// writeInput writes a file unless it exists with the right content and mode.
func writeInput(root *os.Root, name string, f File) error {
	if err := mkParents(root, name); err != nil {
		return err
	}

	if same, err := hasContent(root, name, f.Data); same || err != nil {
		return err
	}
	// A secret is removed after its run: it need not be synced to disk.
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

// removeInput removes a file if it exists. If one of its parent directories was replaced, the file
// is another one, and stays.
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

// hasContent reports whether name is a regular file with this content and mode 0600. It fails with a DirectoryError if nothing can
// replace what is there.
func hasContent(root *os.Root, name string, data []byte) (bool, error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return false, &DirectoryError{Name: name}
	case !info.Mode().IsRegular(), info.Mode().Perm() != 0o600, info.Size() != int64(len(data)):
		return false, nil
	}

	got, err := regular.ReadIn(root, name, int64(len(data)))

	return string(got) == string(data), err
}

// replaceFile writes a file in place of any other of that name. The content is complete before
// the file gets the name, and if it is durable, it is on disk by then. If the machine fails, the
// name may still be that of the earlier file.
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
		err = closeErr // A full disk may be the cause of both.
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
