// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package filesystem

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
