// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// files are the contents of files by their names. Content that begins with an arrow
// is the target of a symbolic link.
type files map[string]string

// initialized returns what init leaves.
func initialized() files {
	return files{
		".terraform.lock.hcl":                                 "lock",
		".terraform/terraform.tfstate":                        "backend",
		".terraform/modules/modules.json":                     "{}",
		".terraform/modules/a/main.tf":                        "a",
		".terraform/modules/a/link.tf":                        "-> main.tf",
		".terraform/providers/r/h/a/1.0.0/linux_amd64/a_v1.0": "program",
	}
}

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
		// unlike what Restore returns.
		refused bool
	}{
		"Fresh": {
			reason:  "A directory becomes what init would make of it.",
			stored:  initialized(),
			present: files{"main.tf": "m"},
			want:    with(initialized(), "main.tf", "m"),
		},
		"NoProviders": {
			reason: "There is no lock file without providers.",
			stored: files{".terraform/modules/modules.json": "{}"},
			want:   files{".terraform/modules/modules.json": "{}"},
		},
		"OtherLockFile": {
			reason:  "The lock file is the one that init makes of it, and a link in its place leads nowhere.",
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
			reason:  "What was done with other inputs does not count.",
			stored:  initialized(),
			key:     "other",
			want:    files{},
			refused: true,
		},
		"NotFresh": {
			reason:  "A directory with another backend may have a state to be moved.",
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
			reason: "They are good enough for a while.",
			stored: initialized(),
			age:    maxAge - time.Second,
			want:   initialized(),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, now := newCache(t)
			store(t, c, "key", tc.stored)

			*now = now.Add(tc.age)
			dir := t.TempDir()
			write(t, dir, tc.present)

			key := tc.key
			if key == "" {
				key = "key"
			}

			if got := c.Restore(key, dir); got == tc.refused {
				t.Errorf("%s\nRestore(...): want %t, got %t", tc.reason, !tc.refused, got)
			}

			if diff := cmp.Diff(tc.want, content(t, dir)); diff != "" {
				t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLinks ensures that programs are not copied, that what is secret is nobody
// else's, and that a change in one directory does not reach another.
func TestLinks(t *testing.T) {
	t.Parallel()

	c, _ := newCache(t)
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

	c := New(filepath.Join(filesystem.Other(t), "cache"))
	src, dir := t.TempDir(), t.TempDir()
	write(t, src, initialized())

	if err := errors.Join(os.Chmod(filepath.Join(src, program), 0o755), c.Store("key", src, src)); err != nil {
		t.Fatal(err)
	}

	if !c.Restore("key", dir) {
		t.Fatal("Restore(...): want true, got false")
	}

	if diff := cmp.Diff(initialized(), content(t, dir)); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}

	if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of a program: want 0700, got %v and error %v", info, err)
	}
}

// TestStoreRefuses ensures that nothing is kept that leads to what will be gone.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	cases := map[string]struct {
		reason string
		target string
		err    error
	}{
		"Elsewhere":   {reason: "A link to somewhere else stays true.", target: t.TempDir()},
		"Within":      {reason: "A link within what is kept is kept.", target: "../terraform.tfstate"},
		"ToRoot":      {reason: "The directory will be gone.", target: filepath.Join(root, "ToRoot", "main.tf"), err: cmpopts.AnyError},
		"Out":         {reason: "The link would lead elsewhere from another directory.", target: "../../main.tf", err: cmpopts.AnyError},
		"AboveModule": {reason: "All of the root will be gone.", target: filepath.Join(root, "other"), err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, _ := newCache(t)
			dir := filepath.Join(root, name)
			write(t, dir, with(initialized(), ".terraform/modules/link", "-> "+tc.target))

			if diff := cmp.Diff(tc.err, c.Store("key", root, dir), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nStore(...): -want error, +got error:\n%s", tc.reason, diff)
			}

			want := []string{"key"}
			if tc.err != nil {
				want = []string{}
			}

			if diff := cmp.Diff(want, names(t, c)); diff != "" {
				t.Errorf("%s\nentries: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDangling ensures that an entry whose providers are gone is not used.
func TestDangling(t *testing.T) {
	t.Parallel()

	c, _ := newCache(t)
	plugins := t.TempDir()
	store(t, c, "key", with(initialized(), ".terraform/providers/r/h/b/1.0.0/linux_amd64", "-> "+plugins))

	if err := os.Remove(plugins); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	if c.Restore("key", dir) {
		t.Error("Restore(...): want false, got true")
	}

	if diff := cmp.Diff(files{}, content(t, dir)); diff != "" {
		t.Errorf("files: -want, +got:\n%s", diff)
	}
}

func TestEvict(t *testing.T) {
	t.Parallel()

	c, now := newCache(t)
	c.entries.MaxEntries = 2

	for _, key := range []string{"a", "b", "c"} {
		store(t, c, key, initialized())

		*now = now.Add(time.Minute)
	}

	if diff := cmp.Diff([]string{"b", "c"}, names(t, c)); diff != "" {
		t.Errorf("entries when there may be 2: -want, +got:\n%s", diff)
	}

	c.entries.MaxBytes = dircache.Size(c.entries.Path("c"))
	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"c"}, names(t, c)); diff != "" {
		t.Errorf("entries when there may be as many bytes as one has: -want, +got:\n%s", diff)
	}

	// What a process that was killed left.
	write(t, c.entries.Dir, files{dircache.TempPrefix + "x/main.tf": "half"})

	if err := os.Chtimes(filepath.Join(c.entries.Dir, dircache.TempPrefix+"x"), *now, *now); err != nil {
		t.Fatal(err)
	}

	*now = now.Add(maxAge - time.Second)

	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{dircache.TempPrefix + "x"}, names(t, c)); diff != "" {
		t.Errorf("entries when all but what may be in progress is too old: -want, +got:\n%s", diff)
	}

	*now = now.Add(2 * time.Second)

	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{}, names(t, c)); diff != "" {
		t.Errorf("entries when all are too old: -want, +got:\n%s", diff)
	}
}

// TestStart ensures that secrets of an instance that is gone do not stay longer than
// they have to.
func TestStart(t *testing.T) {
	t.Parallel()

	c, now := newCache(t)
	store(t, c, "key", initialized())

	*now = now.Add(2 * maxAge)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{}, names(t, c)); diff != "" {
		t.Errorf("entries after a start: -want, +got:\n%s", diff)
	}
}

// TestModes ensures that what is kept can be read by nobody else, whatever the CLI
// allows.
func TestModes(t *testing.T) {
	t.Parallel()

	c, _ := newCache(t)
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

func TestForget(t *testing.T) {
	t.Parallel()

	c, _ := newCache(t)
	store(t, c, "key", initialized())

	for range 2 {
		if err := c.Forget("key"); err != nil {
			t.Fatal(err)
		}
	}

	if c.Restore("key", t.TempDir()) {
		t.Error("Restore(...) of what is forgotten: want false, got true")
	}
}

// TestConcurrentUse makes, uses and evicts one entry all the time, by what might be
// several processes: nobody ever sees a part of it.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()

	src, caches := t.TempDir(), t.TempDir()
	write(t, src, initialized())

	var wg sync.WaitGroup

	for range 4 {
		c := New(caches)

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

				if diff := cmp.Diff(want, content(t, dir)); diff != "" {
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

// newCache returns a cache and the time in it.
func newCache(t *testing.T) (*Cache, *time.Time) {
	t.Helper()

	now := time.Now()
	c := New(filepath.Join(t.TempDir(), "cache"))
	c.entries.Now = func() time.Time { return now }

	return c, &now
}

// store files of a new directory, which it returns.
func store(t *testing.T, c *Cache, key string, f files) string {
	t.Helper()

	dir := t.TempDir()
	write(t, dir, f)

	if err := c.Store(key, dir, dir); err != nil {
		t.Fatal(err)
	}

	return dir
}

// with returns the files and another one.
func with(f files, name, content string) files {
	f[name] = content

	return f
}

func names(t *testing.T, c *Cache) []string {
	t.Helper()

	entries, err := os.ReadDir(c.entries.Dir)
	if err != nil {
		t.Fatal(err)
	}

	all := []string{}
	for _, e := range entries {
		all = append(all, e.Name())
	}

	return all
}

func write(t *testing.T, dir string, f files) {
	t.Helper()

	for name, content := range f {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)

		if target, ok := strings.CutPrefix(content, "-> "); ok && err == nil {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}

		if err != nil {
			t.Fatal(err)
		}
	}
}

// content of the files below dir.
func content(t *testing.T, dir string) files {
	t.Helper()

	got := files{}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}

		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}

		if e.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			got[rel] = "-> " + target

			return err
		}

		data, err := os.ReadFile(path)
		got[rel] = string(data)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return got
}
