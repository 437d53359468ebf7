// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestTempDir(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	replaceTree(t, d, "v1", files{"main.tf": "m"})
	filesystem.Write(t, d.Path(), files{".crossplane-fetch-old/module/x.tf": "left", ".crossplane-other": "kept"})

	dir, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(dir, "credentials"), "c")

	second, err := d.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	if dir == second {
		t.Errorf("TempDir(): %q twice", dir)
	}

	info, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}

	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("mode of TempDir(): want 0700, got %o", got)
	}

	if diff := cmp.Diff(files{"main.tf": "m", ".crossplane-other": "kept"}, treeContent(t, d)); diff != "" {
		t.Errorf("TempDir() must remove what earlier ones left, and nothing else: -want, +got:\n%s", diff)
	}
}
