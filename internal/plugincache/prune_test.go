// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

var errBoom = errors.New("boom")

// prune prunes a plugin cache that these directories use.
func prune(t *testing.T, cache string, dirs ...string) {
	t.Helper()

	p := &Pruner{Cache: cache, Initialized: func() ([]string, error) { return dirs, nil }}
	if err := p.prune(); err != nil {
		t.Fatal(err)
	}
}

// setAge makes packages older.
func setAge(t *testing.T, cache string, age time.Duration, names ...string) {
	t.Helper()

	then := time.Now().Add(-age)

	for _, name := range names {
		if err := os.Chtimes(newStore(cache, "").files.Path(name), then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPruner ensures that a package that no directory uses any more is deleted, and that a run
// that needs it installs it again.
func TestPruner(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "time", "0.14.2", timeProvider(t))
		f.add(t, "unused", "1.0.0", []byte("unused"))

		used := f.place(t, `resource "time_static" "this" {}`)
		used.mustInit(t)

		unused := f.place(t, require("unused", "1.0.0"))
		unused.mustInit(t)

		kept := filepath.Base(used.provider(t, "time", "0.14.2"))
		foreign := filepath.Join(f.cache, f.cli.registry, "hashicorp", "mine", "1.0.0", "linux_amd64", "mine")
		write(t, foreign, "mine")

		setAge(t, f.cache, maxUnused-time.Hour, stored(t, f.cache)...)
		prune(t, f.cache, used.run.Dir)

		expectPackages(t, f.cache, "before one is old", 2)

		setAge(t, f.cache, maxUnused+time.Hour, stored(t, f.cache)...)
		prune(t, f.cache, used.run.Dir)

		expectStored(t, f.cache, "when one of them was not used for long", kept)

		if _, err := os.Stat(foreign); err != nil {
			t.Errorf("a file of another program in the plugin cache: %v", err)
		}

		if err := used.exec(t.Context(), used.run.Env, "validate", "-no-color"); err != nil {
			t.Error(err)
		}

		// No instance has refreshed the directory of this Workspace.
		unused.mustInit(t)

		f.expectDownloads(t, "of a package that was removed", "unused", 2)
	})
}

// expectYoung fails the test unless exactly these packages were used lately.
func expectYoung(t *testing.T, cache, what string, want ...string) {
	t.Helper()

	var got []string

	for _, name := range stored(t, cache) {
		info, err := os.Stat(newStore(cache, "").files.Path(name))
		if err != nil {
			t.Fatal(err)
		}

		if time.Since(info.ModTime()) < minRetention {
			got = append(got, name)
		}
	}

	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("young packages %s: -want, +got:\n%s", what, diff)
	}
}

// TestPrunerOfInit ensures that an init protects the packages that it installs, and no others.
func TestPrunerOfInit(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("old"))
		f.place(t, require("a", "1.0.0")).mustInit(t)

		old := stored(t, f.cache)

		f.add(t, "a", "1.1.0", []byte("new"))

		first := f.place(t, require("a", "1.1.0"))
		first.mustInit(t)

		used := filepath.Base(first.provider(t, "a", "1.1.0"))

		setAge(t, f.cache, maxUnused-time.Hour, old[0], used)
		f.place(t, require("a", "~> 1.0")).mustInit(t)

		expectYoung(t, f.cache, "after an init that may install two, and installs one of them", used)

		// Not every cache has a Pruner: a package that is too old can be used.
		setAge(t, f.cache, maxUnused+time.Hour, old[0], used)
		f.place(t, require("a", "~> 1.0")).mustInit(t)
		expectYoung(t, f.cache, "after an init that uses one again", used)

		if diff := cmp.Diff(map[string]int{"a_1.0.0.zip": 1, "a_1.1.0.zip": 1}, f.downloaded()); diff != "" {
			t.Errorf("downloads: -want, +got:\n%s", diff)
		}

		// A package that is installed again, by a run that did not use it before, stays.
		setAge(t, f.cache, 2*maxUnused, used)

		s := newStore(f.cache, "other")
		copied := filepath.Join(t.TempDir(), "copy")

		if err := os.CopyFS(copied, os.DirFS(s.files.Path(used))); err != nil {
			t.Fatal(err)
		}

		if _, err := s.add(pkg{address: "r/h/a", version: "1.1.0", platform: "p", dir: copied}); err != nil {
			t.Fatal(err)
		}

		prune(t, f.cache)

		expectStored(t, f.cache, "that were installed again", used)
	})
}

// TestPrunerUnknown ensures that no package is removed when the used packages are unknown.
func TestPrunerUnknown(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	write(t, filepath.Join(newStore(cache, "").files.Path("a"), "program"), "a")
	setAge(t, cache, 2*maxUnused, "a")

	p := &Pruner{Cache: cache, Initialized: func() ([]string, error) { return nil, errBoom }}
	if err := p.prune(); !errors.Is(err, errBoom) {
		t.Errorf("prune(): want %v, got %v", errBoom, err)
	}

	expectStored(t, cache, "when it may be used", "a")
}

// TestPrunerSize ensures that packages beyond the limit are deleted, the oldest first, but not
// those that may be in use.
func TestPrunerSize(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()

	for n, name := range []string{"now", "today", "yesterday", "before"} {
		path := filepath.Join(newStore(cache, "").files.Path(name), "program")
		write(t, path, name)

		// It is sparse and takes no space.
		if err := os.Truncate(path, maxPackages*2/3); err != nil {
			t.Skipf("this file system has no large sparse files: %v", err)
		}

		setAge(t, cache, time.Duration(n-1)*minRetention+time.Hour, name)
	}

	setAge(t, cache, 0, "now")
	prune(t, cache)

	expectStored(t, cache, "that may be used", "now", "today")
}

// TestPrunerStart ensures that a Pruner runs at once, and ends, also without any package.
func TestPrunerStart(t *testing.T) {
	t.Parallel()

	asked := 0
	p := &Pruner{Cache: t.TempDir(), Initialized: func() ([]string, error) {
		asked++

		return nil, nil
	}}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := p.Start(ctx); err != nil || asked != 1 {
		t.Errorf("Start(...): want one round, got %d and error %v", asked, err)
	}
}

// TestPrunerOrigins ensures that a link to a package goes with the package, and an origin with its
// last link.
func TestPrunerOrigins(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	s := newStore(cache, "")
	write(t, filepath.Join(s.files.Path("a"), "program"), "a")

	for origin, packages := range map[string][]string{"full": {"a", "gone"}, "empty": {"gone", "gone too"}} {
		for _, name := range packages {
			link := filepath.Join(newStore(cache, origin).origin, "r", "h", name, "1.0.0", "p")
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(s.files.Path(name), link)); err != nil {
				t.Fatal(err)
			}
		}
	}

	prune(t, cache)

	if diff := cmp.Diff([]string{"full"}, filesystem.Names(t, filepath.Join(cache, storeDir, originsDir))); diff != "" {
		t.Errorf("origins: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"a"}, filesystem.Names(t, filepath.Join(newStore(cache, "full").origin, "r", "h"))); diff != "" {
		t.Errorf("links of an origin with one package left: -want, +got:\n%s", diff)
	}
}
