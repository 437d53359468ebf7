// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"archive/tar"
	"bytes"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// FuzzTar unpacks an archive with a link and a file of any name, and checks that there is nothing
// outside.
func FuzzTar(f *testing.F) {
	for _, seed := range [][3]string{
		{"a", "..", "a/escape"},
		{"a/b", "../..", "a/b/../escape"},
		{"a", "/tmp", "a/x"},
		{"..", "x", "y"},
		{".", "..", "./x"},
		{"a", "a", "a"},
		{"", "", ""},
		{"a//b/", "./..", "a/./b/x"},
		{"a\x00b", "\x00", "x\\..\\y"},
		{"a", "b/..", "a/../../x"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}

	f.Fuzz(func(t *testing.T, name, target, second string) {
		if len(name)+len(target)+len(second) > 4000 {
			return
		}

		entries := []packed{dir("b", 0o755), link(name, target), file(second, "x"), hard(second+"x", name), dir(second, 0o755)}
		for i := range entries {
			b := &bytes.Buffer{}
			w := tar.NewWriter(b)
			wrote := 0

			for _, e := range entries[:i+1] {
				if addToTar(w, e) == nil {
					wrote++
				}
			}

			if wrote == 0 || w.Close() != nil {
				return // It is no archive.
			}

			parent := t.TempDir()
			root := newRoot(t, filepath.Join(parent, "root"))
			_ = untar(root, b.Bytes(), wide)

			if got := filesystem.Names(t, parent); len(got) != 1 {
				t.Fatalf("link %q to %q, file %q: there is something outside: %q", name, target, second, got)
			}
		}
	})
}
