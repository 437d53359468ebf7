// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestLinks ensures that programs are not copied, that no other user can read secrets,
// and that a change in one directory does not reach another.
func TestLinks(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	src := store(t, c, "key", initialized())
	dir := t.TempDir()

	if !c.Restore("key", dir) {
		t.Fatal("Restore(...): want true, got false")
	}

	for name := range initialized() {
		a, err := os.Stat(filepath.Join(src, name))
		if err != nil {
			t.Fatal(err)
		}

		b, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		if got, want := os.SameFile(a, b), strings.Contains(name, "/providers/"); got != want {
			t.Errorf("%q is the same file: want %t, got %t", name, want, got)
		}

		if !os.SameFile(a, b) && b.Mode().Perm() != 0o600 {
			t.Errorf("mode of %q: want 0600, got %o", name, b.Mode().Perm())
		}
	}
}

// TestOtherDevice ensures that programs are copied where they cannot be linked.
func TestOtherDevice(t *testing.T) {
	t.Parallel()

	const program = ".terraform/providers/r/h/a/1.0.0/linux_amd64/a_v1.0"

	c := New(filepath.Join(filesystem.Other(t), "cache"), func(bool) {})
	src, dir := t.TempDir(), t.TempDir()
	filesystem.Write(t, src, initialized())

	if err := errors.Join(os.Chmod(filepath.Join(src, program), 0o755), c.Store("key", src, src)); err != nil {
		t.Fatal(err)
	}

	if !c.Restore("key", dir) {
		t.Fatal("Restore(...): want true, got false")
	}

	if diff := cmp.Diff(initialized(), filesystem.Read(t, dir)); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}

	if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of a program: want 0700, got %v and error %v", info, err)
	}
}

// TestModes ensures that no other user can read an entry, regardless of the modes that
// the CLI sets.
func TestModes(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	store(t, c, "key", initialized())

	for _, name := range []string{".", dataDir, filepath.Join(dataDir, "modules", "a"), lockName, filepath.Join(dataDir, "terraform.tfstate")} {
		info, err := os.Stat(filepath.Join(c.entries.Path("key"), name))
		if err != nil {
			t.Fatal(err)
		}

		want := fs.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}

		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %q: want %o, got %o", name, want, got)
		}
	}
}
