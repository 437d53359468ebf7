// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestRestore(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		stored files
		// present in the directory before.
		present files
		age     time.Duration
		key     string
		want    files
		// refused says that Restore returns false.
		refused bool
	}{
		"Fresh": {
			reason:  "The directory has the result of init.",
			stored:  initialized(),
			present: files{"main.tf": "m"},
			want:    with(initialized(), "main.tf", "m"),
		},
		"NoProviders": {
			reason: "Without providers there is no lock file.",
			stored: files{".terraform/modules/modules.json": "{}"},
			want:   files{".terraform/modules/modules.json": "{}"},
		},
		"OtherLockFile": {
			reason:  "The lock file is that of the result. A link in its place is replaced.",
			stored:  initialized(),
			present: files{".terraform.lock.hcl": "-> other", "other": "o"},
			want:    with(initialized(), "other", "o"),
		},
		"Selection": {
			reason: "The selected workspace is that of the other directory.",
			stored: with(initialized(), ".terraform/environment", "w"),
			want:   initialized(),
		},
		"UnknownKey": {
			reason:  "A result for other inputs does not count.",
			stored:  initialized(),
			key:     "other",
			want:    files{},
			refused: true,
		},
		"NotFresh": {
			reason:  "A directory with another backend may have a state to migrate.",
			stored:  initialized(),
			present: files{".terraform/terraform.tfstate": "mine"},
			want:    files{".terraform/terraform.tfstate": "mine"},
			refused: true,
		},
		"Old": {
			reason:  "There may be newer modules and providers.",
			stored:  initialized(),
			age:     maxAge + time.Second,
			want:    files{},
			refused: true,
		},
		"NotOld": {
			reason: "Within their age they are used.",
			stored: initialized(),
			age:    maxAge - time.Minute,
			want:   initialized(),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCache(t)
			store(t, c, "key", tc.stored)

			var hits []bool

			c.observe = func(hit bool) { hits = append(hits, hit) }

			setAge(t, c, "key", tc.age)

			dir := t.TempDir()
			filesystem.Write(t, dir, tc.present)

			key := tc.key
			if key == "" {
				key = "key"
			}

			if got := c.Restore(key, dir); got == tc.refused {
				t.Errorf("%s\nRestore(...): want %t, got %t", tc.reason, !tc.refused, got)
			}

			// A directory that is not fresh does not need the cache.
			var want []bool
			if Fresh(dir) || !tc.refused {
				want = []bool{!tc.refused}
			}

			if diff := cmp.Diff(want, hits); diff != "" {
				t.Errorf("%s\nhits: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, filesystem.Read(t, dir)); diff != "" {
				t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStoreRefuses ensures that a result with links to files that will be removed is not kept.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	cases := map[string]struct {
		reason string
		target string
		err    error
	}{
		"Elsewhere":   {reason: "A link to another place stays valid.", target: t.TempDir()},
		"Within":      {reason: "A link within the result is kept.", target: "../terraform.tfstate"},
		"ToRoot":      {reason: "The directory will be removed.", target: filepath.Join(root, "ToRoot", "main.tf"), err: cmpopts.AnyError},
		"Out":         {reason: "The link would have another target in another directory.", target: "../../main.tf", err: cmpopts.AnyError},
		"AboveModule": {reason: "The whole root will be removed.", target: filepath.Join(root, "other"), err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCache(t)
			dir := filepath.Join(root, name)
			filesystem.Write(t, dir, with(initialized(), ".terraform/modules/link", "-> "+tc.target))

			if diff := cmp.Diff(tc.err, c.Store("key", root, dir), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nStore(...): -want error, +got error:\n%s", tc.reason, diff)
			}

			var want []string
			if tc.err == nil {
				want = []string{"key"}
			}

			expectEntries(t, c, tc.reason+"\nentries", want...)
		})
	}
}

// TestDangling ensures that an entry whose providers were removed is not used.
func TestDangling(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	plugins := t.TempDir()
	store(t, c, "key", with(initialized(), ".terraform/providers/r/h/b/1.0.0/linux_amd64", "-> "+plugins))

	if err := os.Remove(plugins); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	if c.Restore("key", dir) {
		t.Error("Restore(...): want false, got true")
	}

	if diff := cmp.Diff(files{}, filesystem.Read(t, dir)); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	store(t, c, "key", initialized())

	for range 2 {
		if err := c.Forget("key"); err != nil {
			t.Fatal(err)
		}
	}

	if c.Restore("key", t.TempDir()) {
		t.Error("Restore(...) of a removed entry: want false, got true")
	}
}

// TestConcurrentUse constantly makes, uses and evicts one entry, like several processes: no
// reader sees a part of it.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()

	src, caches := t.TempDir(), t.TempDir()
	filesystem.Write(t, src, initialized())

	var wg sync.WaitGroup

	for range 4 {
		c := New(caches, func(bool) {})

		wg.Go(func() {
			for range 50 {
				if err := c.Store("key", src, src); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}

				dir := t.TempDir()
				want := files{}

				if c.Restore("key", dir) {
					want = initialized()
				}

				if diff := cmp.Diff(want, filesystem.Read(t, dir)); diff != "" {
					t.Errorf("files: -want, +got:\n%s", diff)
				}

				if err := c.Forget("key"); err != nil {
					t.Error(err)
				}
			}
		})
	}

	wg.Wait()
}

// TestStart ensures that entries that are too old are removed at the start.
func TestStart(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	store(t, c, "old", initialized())
	store(t, c, "new", initialized())
	setAge(t, c, "old", 2*maxAge)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}

	expectEntries(t, c, "entries after a start", "new")
}

// TestLinks ensures that programs are not copied, and that a change in one directory does not reach another.
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

	if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode of a program: want 0755, got %v and error %v", info, err)
	}
}

// TestModes ensures that files have the modes that init has made, because a module may read them, and that no other user can read
// an entry nevertheless.
func TestModes(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	src, dir := t.TempDir(), t.TempDir()
	modes := map[string]fs.FileMode{"a": 0o644, "b": 0o755, "c": 0o600, "d": 0o464}
	module := filepath.Join(dataDir, "modules", "m")

	for name, mode := range modes {
		path := filepath.Join(module, name)
		filesystem.Write(t, src, map[string]string{path: "1"})

		if err := os.Chmod(filepath.Join(src, path), mode); err != nil {
			t.Fatal(err)
		}
	}

	if err := c.Store("key", src, src); err != nil || !c.Restore("key", dir) {
		t.Fatalf("cannot store and restore: %v", err)
	}

	expect := func(path string, want fs.FileMode) {
		t.Helper()

		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}

		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %q: want %o, got %o", path, want, got)
		}
	}

	for name, want := range modes {
		expect(filepath.Join(dir, module, name), want)
	}

	for _, name := range []string{".", dataDir, module} {
		expect(filepath.Join(c.entries.Path("key"), name), 0o700)
	}
}
