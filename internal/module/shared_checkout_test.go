// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSharedCheckout ensures that a commit is checked out once, for all refs to it and
// all directories in it.
func TestSharedCheckout(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "old"})
	old := r.git(t, "rev-parse", "HEAD")
	commit := r.commit(t, files{"main.tf": "root", "a/main.tf": "a", "b/main.tf": "b", "b/link.tf": "-> main.tf"})
	r.git(t, "tag", "-a", "-m", "one", "v1")
	r.git(t, "tag", "light")
	r.git(t, "branch", "feature/x")

	// In a clone, these names stand for another ref: its branch main comes first.
	r.git(t, "branch", "origin/main", old)
	r.git(t, "branch", "both", commit)
	r.git(t, "tag", "both", old)
	r.git(t, "branch", old[:8], commit)

	root := files{"main.tf": "root", "a/main.tf": "a", "b/main.tf": "b", "b/link.tf": "-> main.tf"}
	shared, env := t.TempDir(), environment(t)

	steps := []struct {
		reason  string
		address string
		want    files
		clones  int
	}{
		{"The first one clones.", "/r//a?ref=main", files{"main.tf": "a"}, 1},
		{"Another directory of the commit is reused.", "/r//b?ref=main", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
		{"So is the whole tree.", "/r?ref=main", root, 0},
		{"A branch that stands for the same commit.", "/r//a?ref=feature/x", files{"main.tf": "a"}, 0},
		{"An annotated tag.", "/r//b?ref=v1", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
		{"A lightweight tag.", "/r?ref=light", root, 0},
		{"The commit itself.", "/r//a?ref=" + commit, files{"main.tf": "a"}, 0},
		{"The default branch.", "/r", root, 0},
		{"Another commit.", "/r?ref=" + old, files{"main.tf": "old"}, 1},
		{"A name that stands for another branch in a clone.", "/r?ref=origin/main", root, 1},
		{"A tag takes precedence over a branch.", "/r?ref=both", files{"main.tf": "old"}, 1},
		{"A name may look like a commit's.", "/r?ref=" + old[:8], files{"main.tf": "old"}, 1},
		{"An expression is cloned.", "/r?ref=main~1", files{"main.tf": "old"}, 1},
		{"Once.", "/r?ref=main~1", files{"main.tf": "old"}, 0},
		{"A shallow clone is separate.", "/r//a?ref=main&depth=1", files{"main.tf": "a"}, 1},
		{"For all directories.", "/r//b?ref=main&depth=1", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
	}

	for _, step := range steps {
		address := "git::" + s.url + step.address
		s.counts()

		p := newStorePlace(t, shared, address, env)
		p.ensure(t)
		p.expect(t, step.want)

		s.expectClones(t, fmt.Sprintf("for %q: %s", address, step.reason), step.clones)

		// The result is the same without sharing.
		alone := newPlace(t, address)
		alone.ensure(t)
		alone.expect(t, step.want)

		_, err := os.Stat(filepath.Join(p.dir.Path(), ".git"))
		_, errAlone := os.Stat(filepath.Join(alone.dir.Path(), ".git"))

		if (err == nil) != (errAlone == nil) {
			t.Errorf("%s\nhistory of %q: want %v, got %v", step.reason, address, errAlone, err)
		}
	}

	// There is one checkout of each of the two commits, of the three unusual refs, of the
	// expression and of the shallow clone.
	if trees, err := filepath.Glob(filepath.Join(shared, "trees", "*")); err != nil || len(trees) != 7 {
		t.Errorf("checkouts: want 7, got %q and error %v", trees, err)
	}
}

// TestSharedDirectories fetches two directories of one repository at once.
func TestSharedDirectories(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "r", files{"a/main.tf": "a", "b/main.tf": "b"})
	shared, env := t.TempDir(), environment(t)

	var wg sync.WaitGroup

	for range 4 {
		for _, name := range []string{"a", "b"} {
			p := newStorePlace(t, shared, "git::"+s.url+"/r//"+name, env)

			wg.Go(func() {
				if _, err := p.fetcher.Ensure(t.Context(), p.request); err != nil {
					t.Error(err)
				}

				if diff := cmp.Diff(files{"main.tf": name}, content(t, p.dir.Path())); diff != "" {
					t.Errorf("files of directory %q: -want, +got:\n%s", name, diff)
				}
			})
		}
	}

	wg.Wait()

	s.expectClones(t, "for 8 directories", 1)
}

// TestSharedMoved moves a branch between the check of its revision and its clone. When the branch
// is moved back, no fetch gets the tree of the other commit.
func TestSharedMoved(t *testing.T) {
	t.Parallel()

	for _, query := range []string{"", "?ref=main", "?ref=main&depth=1"} {
		s := newGitServer(t)
		r := s.repo(t, "r", files{"main.tf": "0"})
		commit := r.commit(t, files{"main.tf": "1"})
		shared, env := t.TempDir(), environment(t)

		var checks atomic.Int32

		s.before = func(req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/info/refs") && checks.Add(1) == 3 {
				r.commit(t, files{"main.tf": "2"})
			}
		}

		first := newStorePlace(t, shared, "git::"+s.url+"/r"+query, env)
		first.ensure(t)

		if checks.Load() < 3 {
			t.Fatalf("%q: the test expects a check, and another one before the clone", query)
		}

		r.git(t, "reset", "-q", "--hard", commit)

		second := newStorePlace(t, shared, "git::"+s.url+"/r"+query, env)
		second.ensure(t)
		second.expect(t, files{"main.tf": "1"})
	}
}

// TestSharedSubmodules ensures that a checkout has its submodules.
func TestSharedSubmodules(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "lib", files{"lib.tf": "lib"})
	r := s.repo(t, "r", files{"main.tf": "m"})
	r.git(t, "submodule", "--quiet", "add", s.url+"/lib", "modules/lib")
	r.git(t, "commit", "-qm", "submodule")

	shared, env := t.TempDir(), environment(t)
	newStorePlace(t, shared, "git::"+s.url+"/r", env).ensure(t)
	s.counts()

	p := newStorePlace(t, shared, "git::"+s.url+"/r//modules?ref=main", env)
	p.request.Parameters.Entrypoint = "lib"
	p.ensure(t)
	p.expect(t, files{"lib/lib.tf": "lib"})

	s.expectClones(t, "of checked out commits", 0)
}
