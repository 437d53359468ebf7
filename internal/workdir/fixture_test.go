// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

const (
	uidA = "0b4b5d1c-1f0a-4f0e-9a36-3f1b1c8b0a01"
	uidB = "7f3c2a9e-55d0-4c57-8f4a-d4f6f2a3b902"
	uidC = "c2a7e1d4-93b6-4f08-8a15-6e5d4c3b2a03"
)

type files = filesystem.Files

func text(s string) File { return File{Data: []byte(s)} }

func secret(s string) File { return File{Data: []byte(s), Secret: true} }

func openRoot(t *testing.T) *Root {
	t.Helper()

	r, err := Open(filepath.Join(t.TempDir(), "root"), maxUse)
	if err != nil {
		t.Fatal(err)
	}

	return r
}

func newDir(t *testing.T) *Dir {
	t.Helper()

	return dirOf(t, openRoot(t), uidA)
}

func dirOf(t *testing.T, r *Root, uid string) *Dir {
	t.Helper()

	d, err := r.Dir(uid)
	if err != nil {
		t.Fatal(err)
	}

	return d
}

func syncDir(t *testing.T, d *Dir, set map[string]File, later ...string) {
	t.Helper()

	if err := d.Sync(set, later...); err != nil {
		t.Fatal(err)
	}
}

func removeSecrets(t *testing.T, d *Dir) {
	t.Helper()

	if err := d.RemoveSecrets(); err != nil {
		t.Fatal(err)
	}
}

// recordOf returns the path of a record about a directory.
func recordOf(dir, name string) string {
	return filepath.Join(filepath.Dir(dir), recordsDir, filepath.Base(dir), name)
}

// content returns all files below a directory. The content of a symbolic link is the base name of its target.
func content(t *testing.T, dir string) files {
	t.Helper()

	got := filesystem.Read(t, dir)
	for name, content := range got {
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			got[name] = "-> " + filepath.Base(target)
		}
	}

	return got
}

func write(t *testing.T, path, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(path), 0o700)

	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()

	if err := os.MkdirAll(path, mode); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()

	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()

	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// replaceTree makes the files the tree of d.
func replaceTree(t *testing.T, d *Dir, revision string, f files) {
	t.Helper()

	if err := d.ReplaceTree(newTree(t, d, f), revision); err != nil {
		t.Fatalf("ReplaceTree(..., %q): %v", revision, err)
	}
}

// newTree returns a directory with the files in a temporary one of d.
func newTree(t *testing.T, d *Dir, f files) string {
	t.Helper()

	dir, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	dir = filepath.Join(dir, "module")
	mkdir(t, dir, 0o700)
	filesystem.Write(t, dir, f)

	return dir
}

// treeContent of d, without its record and its temporary directories.
func treeContent(t *testing.T, d *Dir) files {
	t.Helper()

	got := content(t, d.Path())
	for name := range got {
		if strings.HasPrefix(name, fetchPrefix) {
			delete(got, name)
		}
	}

	return got
}
