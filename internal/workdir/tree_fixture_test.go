// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

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
