// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var errBoom = errors.New("boom")

// newPruner returns a Pruner for these directories, whose clock is ahead by later.
func newPruner(cache string, later time.Duration, places ...*place) *Pruner {
	k := NewPruner(cache, func() ([]string, error) {
		dirs := []string{}
		for _, p := range places {
			dirs = append(dirs, p.run.Dir)
		}

		return dirs, nil
	})
	k.now = func() time.Time { return time.Now().Add(later) }

	return k
}

// newFilledStore returns a store with packages of these names.
func newFilledStore(t *testing.T, cache string, packages ...string) *store {
	t.Helper()

	s := newStore(cache, "", time.Now)

	for _, name := range packages {
		write(t, filepath.Join(s.all.Path(name), "program"), name)
	}

	return s
}

func (p *Pruner) mustPrune(t *testing.T) {
	t.Helper()

	if err := p.prune(t.Context()); err != nil {
		t.Fatal(err)
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

		newPruner(f.cache, maxUnused-time.Hour, used).mustPrune(t)

		expectPackages(t, f.cache, "before one is old", 2)

		newPruner(f.cache, maxUnused+time.Hour, used).mustPrune(t)

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

// TestPrunerOfInit ensures that a package that an init uses stays, regardless of its age.
func TestPrunerOfInit(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))
		f.place(t, require("a", "1.0.0")).mustInit(t)

		old := filepath.Join(f.cache, storeDir, packagesDir, stored(t, f.cache)[0])
		past := time.Now().Add(-2 * maxUnused)

		if err := os.Chtimes(old, past, past); err != nil {
			t.Fatal(err)
		}

		p := f.place(t, require("a", "1.0.0"))

		err := Init(t.Context(), p.run, func(env []string) error {
			newPruner(f.cache, 0).mustPrune(t)

			return p.exec(t.Context(), env, "init", "-input=false", "-no-color")
		})
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(map[string]int{"a_1.0.0.zip": 1}, f.downloaded()); diff != "" {
			t.Errorf("downloads: -want, +got:\n%s", diff)
		}

		// The same is true of a package that is installed again, by a run that did not use it
		// before.
		if err := os.Chtimes(old, past, past); err != nil {
			t.Fatal(err)
		}

		s := newStore(f.cache, "other", time.Now)
		copied := filepath.Join(t.TempDir(), "copy")

		if err := os.CopyFS(copied, os.DirFS(old)); err != nil {
			t.Fatal(err)
		}

		if _, err := s.add(t.Context(), pkg{address: "r/h/a", version: "1.0.0", platform: "p", dir: copied}); err != nil {
			t.Fatal(err)
		}

		newPruner(f.cache, 0).mustPrune(t)

		expectPackages(t, f.cache, "that were installed again", 1)
	})
}

// TestPrunerWaits ensures that no package is removed between the check for it and its use, nor
// when the used packages are unknown.
func TestPrunerWaits(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	s := newFilledStore(t, cache, "a")

	k := newPruner(cache, 2*maxUnused)
	k.initialized = func() ([]string, error) { return nil, errBoom }

	if err := k.prune(t.Context()); !errors.Is(err, errBoom) {
		t.Errorf("prune(...): want %v, got %v", errBoom, err)
	}

	done := s.use(t.Context())

	ctx, cancel := context.WithTimeout(t.Context(), 2*lockRetry)
	defer cancel()

	if err := newPruner(cache, 2*maxUnused).prune(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("prune(...) while packages are used: want %v, got %v", context.DeadlineExceeded, err)
	}

	expectStored(t, cache, "while it may be used", "a")

	done()
	newPruner(cache, 2*maxUnused).mustPrune(t)

	expectStored(t, cache, "that no run uses")

	// The reverse order.
	l := newLock(s.dir, packagesLock)
	if ok, err := l.TryLock(); !ok {
		t.Fatal(err)
	}

	var wg sync.WaitGroup

	used := make(chan struct{})

	wg.Go(func() {
		defer s.use(t.Context())()

		close(used)
	})

	select {
	case <-used:
		t.Error("packages were used while some were removed")
	default:
	}

	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	wg.Wait()
}

// TestPrunerSize ensures that packages beyond the limit are deleted, the oldest first, but not
// those that may be in use.
func TestPrunerSize(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	names := []string{"today", "yesterday", "before"}
	s := newFilledStore(t, cache, names...)

	for n, name := range names {
		path := filepath.Join(s.all.Path(name), "program")

		// It is sparse and takes no space.
		if err := os.Truncate(path, maxPackages*2/3); err != nil {
			t.Skipf("this file system has no large sparse files: %v", err)
		}

		then := time.Now().Add(-time.Duration(n)*minRetention - time.Hour)
		if err := os.Chtimes(filepath.Dir(path), then, then); err != nil {
			t.Fatal(err)
		}
	}

	newPruner(cache, 0).mustPrune(t)

	expectStored(t, cache, "that are not too many", "today")

	write(t, filepath.Join(s.all.Path("new"), "program"), "new")

	if err := os.Truncate(filepath.Join(s.all.Path("new"), "program"), maxPackages*2/3); err != nil {
		t.Fatal(err)
	}

	newPruner(cache, 0).mustPrune(t)

	expectStored(t, cache, "that may be used", "new", "today")
}

// TestPrunerStart ensures that a Pruner runs at once, and ends.
func TestPrunerStart(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	newFilledStore(t, cache, "a")

	asked := 0
	k := newPruner(cache, 2*maxUnused)
	k.initialized = func() ([]string, error) {
		asked++

		return nil, nil
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := k.Start(ctx); err != nil || asked != 1 {
		t.Errorf("Start(...): want one round, got %d and error %v", asked, err)
	}
}

// TestPrunerOrigins ensures that an origin is deleted when it has had no package for a long time,
// and not before.
func TestPrunerOrigins(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()
	s := newFilledStore(t, cache, "a")

	for name, target := range map[string]string{"full": "a", "empty": "gone"} {
		link := filepath.Join(s.origins.Path(name), "r", "h", "a", "1.0.0", "p")
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(s.all.Path(target), link)); err != nil {
			t.Fatal(err)
		}
	}

	for _, tc := range []struct {
		later time.Duration
		want  []string
	}{
		{later: maxUnused - time.Hour, want: []string{"empty", "full"}},
		{later: maxUnused + time.Hour, want: []string{"full"}},
	} {
		p := newPruner(cache, tc.later)
		p.initialized = func() ([]string, error) {
			// A directory uses the package.
			if !newStore(cache, "", p.now).touch("a") {
				t.Error("the package that is used is gone")
			}

			return nil, nil
		}
		p.mustPrune(t)

		entries, err := os.ReadDir(s.origins.Dir)
		if err != nil {
			t.Fatal(err)
		}

		got := []string{}
		for _, e := range entries {
			got = append(got, e.Name())
		}

		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("origins after %s: -want, +got:\n%s", tc.later, diff)
		}
	}
}
