// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package filesystem gives a test a second file system, and writes and reads its files.
package filesystem

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Other returns a new directory in another file system than that of temporary directories:
// links and renames between the two fail. It skips the test if there is no other file
// system.
func Other(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp("/dev/shm", "test-") //nolint:usetesting // It is about where temporary directories are not.
	if err != nil {
		t.Skipf("there is no second file system: %v", err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.Link(file, filepath.Join(dir, "file")); !errors.Is(err, unix.EXDEV) {
		t.Skipf("/dev/shm is not a second file system: %v", err)
	}

	return dir
}

// arrow is before the target of a symbolic link.
const arrow = "-> "

// Files are the contents of files by their names. Contents that begin with an arrow are
// the target of a symbolic link, as in "-> main.tf".
type Files = map[string]string

// Write files below a directory, which is made if it is missing.
func Write(t *testing.T, dir string, files Files) {
	t.Helper()

	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755) //nolint:gosec // The mode is that of other programs: the code under test has to restrict it.

		if target, ok := strings.CutPrefix(content, arrow); ok && err == nil {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644) //nolint:gosec // As above.
		}

		if err != nil {
			t.Fatal(err)
		}
	}
}

// Read the files below a directory, but for the files and directories of the supplied
// base names.
func Read(t *testing.T, dir string, without ...string) Files {
	t.Helper()

	files := Files{}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(without, e.Name()) && e.IsDir():
			return fs.SkipDir
		case slices.Contains(without, e.Name()), e.IsDir():
			return nil
		}

		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}

		files[name], err = read(path, e)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return files
}

func read(path string, e fs.DirEntry) (string, error) {
	if e.Type() == fs.ModeSymlink {
		target, err := os.Readlink(path)

		return arrow + target, err
	}

	content, err := os.ReadFile(path) //nolint:gosec // The test made it.

	return string(content), err
}

// Names returns the names of all that is directly in a directory, in order.
func Names(t *testing.T, dir string) []string {
	t.Helper()

	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}

	return names
}
