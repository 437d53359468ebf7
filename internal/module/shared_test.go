// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// newStorePlace returns a place that shares its modules in a directory.
func newStorePlace(t *testing.T, shared, address string, env []string) *place {
	t.Helper()

	p := newPlace(t, address)
	p.fetcher = NewFetcher(nil, nil, Options{SharedDir: shared, Observe: func(bool) {}})
	p.request.Env = env

	return p
}

// TestShared fetches one module into many directories at once, and then one by one.
func TestShared(t *testing.T) {
	t.Parallel()

	const places = 8

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1", "sub/link.tf": "-> ../main.tf"})
	shared, env := t.TempDir(), environment(t)

	all := make([]*place, 0, places)
	for range places {
		all = append(all, newStorePlace(t, shared, "git::"+s.url+"/r?ref=main", env))
	}

	var wg sync.WaitGroup

	for _, p := range all {
		wg.Go(func() {
			if _, err := p.fetcher.Ensure(t.Context(), p.request); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	for _, p := range all {
		p.expect(t, files{"main.tf": "1", "sub/link.tf": "-> ../main.tf"})
	}

	s.expectClones(t, "for many directories", 1)

	// A change of the module in one directory does not affect the others.
	filesystem.Write(t, all[0].dir.Path(), files{"main.tf": "changed"})

	r.commit(t, files{"main.tf": "2"})

	for _, p := range all {
		p.ensure(t)
		p.expect(t, files{"main.tf": "2"})
	}

	s.expectClones(t, "of a new commit", 1)

	for _, p := range all {
		before := p.identity(t, "main.tf")
		p.ensure(t)

		if !os.SameFile(before, p.identity(t, "main.tf")) {
			t.Error("the module was replaced by the same")
		}
	}

	s.expectClones(t, "when there is nothing new", 0)
}

// TestSharedPullPolicy ensures that a new directory gets the current module of the source.
func TestSharedPullPolicy(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)
	newStorePlace(t, shared, "git::"+s.url+"/r", env).ensure(t)
	r.commit(t, files{"main.tf": "2"})

	p := newStorePlace(t, shared, "git::"+s.url+"/r", env)
	p.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent
	p.ensure(t)
	p.expect(t, files{"main.tf": "2"})
}

// TestSharedObserved ensures that each fetch counts as one of a module that was kept, or not.
func TestSharedObserved(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)

	var hits []bool

	fetched := func() {
		p := newStorePlace(t, shared, "git::"+s.url+"/r", env)
		p.fetcher.options.Observe = func(hit bool) { hits = append(hits, hit) }
		p.ensure(t)
	}

	fetched()
	fetched()
	r.commit(t, files{"main.tf": "2"})
	fetched()

	if diff := cmp.Diff([]bool{false, true, false}, hits); diff != "" {
		t.Errorf("hits of a new module, the same one and a new commit: -want, +got:\n%s", diff)
	}
}

// TestSharedBroken ensures that a module is fetched when the shared one is broken.
func TestSharedBroken(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)
	newStorePlace(t, shared, "git::"+s.url+"/r", env).ensure(t)

	for range 2 {
		trees, err := filepath.Glob(filepath.Join(shared, "trees", "*", "tree"))
		if err != nil || len(trees) != 1 {
			t.Fatalf("trees that are shared: want 1, got %q and error %v", trees, err)
		}

		if err := os.RemoveAll(trees[0]); err != nil {
			t.Fatal(err)
		}

		// The first fetch detects the broken tree, and the next one replaces it.
		for range 2 {
			p := newStorePlace(t, shared, "git::"+s.url+"/r", env)
			p.ensure(t)
			p.expect(t, files{"main.tf": "1"})
		}
	}
}

// TestSharedAge ensures that a module that is used is not evicted.
func TestSharedAge(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)
	newStorePlace(t, shared, "git::"+s.url+"/r", env).ensure(t)

	trees, err := filepath.Glob(filepath.Join(shared, "trees", "*"))
	if err != nil || len(trees) != 1 {
		t.Fatalf("trees that are shared: want 1, got %q and error %v", trees, err)
	}

	old := time.Now().Add(-maxTreeAge / 2)
	if err := os.Chtimes(trees[0], old, old); err != nil {
		t.Fatal(err)
	}

	newStorePlace(t, shared, "git::"+s.url+"/r", env).ensure(t)

	info, err := os.Stat(trees[0])
	if err != nil {
		t.Fatal(err)
	}

	if !info.ModTime().After(old.Add(time.Minute)) {
		t.Errorf("time of the last use: want now, got %v", info.ModTime())
	}
}
