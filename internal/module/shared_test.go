// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// newSharingPlace returns a place that shares its modules in a directory.
func newSharingPlace(t *testing.T, shared, address string, env []string) *place {
	t.Helper()

	p := newPlace(t, address)
	p.fetcher = NewFetcher(nil, nil, WithSharedModules(shared))
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
		all = append(all, newSharingPlace(t, shared, "git::"+s.url+"/r?ref=main", env))
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

	if _, clones := s.counts(); clones != 1 {
		t.Errorf("clones for %d directories: want 1, got %d", places, clones)
	}

	// What one directory does to its module is its own business.
	writeFiles(t, all[0].dir.Path(), files{"main.tf": "changed"})

	r.commit(t, files{"main.tf": "2"})

	for _, p := range all {
		p.ensure(t)
		p.expect(t, files{"main.tf": "2"})
	}

	if _, clones := s.counts(); clones != 1 {
		t.Errorf("clones of a new commit: want 1, got %d", clones)
	}

	for _, p := range all {
		p.ensure(t)
	}

	if _, clones := s.counts(); clones != 0 {
		t.Errorf("clones when there is nothing new: want none, got %d", clones)
	}
}

// TestSharedNever ensures that a module is not shared with those who might not get
// it from its source.
func TestSharedNever(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1"})
	commit := r.git(t, "rev-parse", "HEAD")
	s.users["r"] = "user:secret"

	shared, env := t.TempDir(), environment(t)
	credentials := []byte(strings.Replace(s.url, "http://", "http://user:secret@", 1) + "\n")

	// With the name of a commit nobody has to ask the server.
	address := "git::" + s.url + "/r?ref=" + commit

	owner := newSharingPlace(t, shared, address, env)
	owner.request.GitCredentials = credentials
	owner.ensure(t)

	stranger := newSharingPlace(t, shared, address, env)
	stranger.ensureFails(t)
	stranger.expect(t, files{})

	// The environment may have credentials, too: whoever has another one has to ask.
	s.counts()

	other := newSharingPlace(t, shared, address, append(env, "GIT_SSH_COMMAND=other"))
	other.request.GitCredentials = credentials
	other.ensure(t)

	if _, clones := s.counts(); clones != 1 {
		t.Errorf("clones with another environment: want 1, got %d", clones)
	}

	colleague := newSharingPlace(t, shared, address, append(env, "TF_VAR_x=y"))
	colleague.request.GitCredentials = credentials
	colleague.ensure(t)
	colleague.expect(t, files{"main.tf": "1"})

	if requests, _ := s.counts(); requests != 0 {
		t.Errorf("requests for a commit that was fetched with the same credentials: want none, got %d", requests)
	}
}

// TestSharedPullPolicy ensures that a new directory gets what the source has now.
func TestSharedPullPolicy(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)
	newSharingPlace(t, shared, "git::"+s.url+"/r", env).ensure(t)
	r.commit(t, files{"main.tf": "2"})

	p := newSharingPlace(t, shared, "git::"+s.url+"/r", env)
	p.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent
	p.ensure(t)
	p.expect(t, files{"main.tf": "2"})
}

// TestSharedBroken ensures that a module is fetched when the shared one is of no use.
func TestSharedBroken(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)
	first := newSharingPlace(t, shared, "git::"+s.url+"/r", env)
	first.ensure(t)

	m := first.fetcher.shared.module(first.request, remote(first.request.Parameters.Module))
	if err := os.RemoveAll(filepath.Join(m.path, sharedTree)); err != nil {
		t.Fatal(err)
	}

	p := newSharingPlace(t, shared, "git::"+s.url+"/r", env)
	p.ensure(t)
	p.expect(t, files{"main.tf": "1"})
}

func TestSharedEviction(t *testing.T) {
	t.Parallel()

	m := &sharedModules{dir: t.TempDir()}
	writeFiles(t, m.dir, files{"new/revision": "r", "old/revision": "r", "busy/revision": "r", "x.tmp/module/main.tf": "half", "old.lock": ""})

	release, err := (&sharedModule{path: filepath.Join(m.dir, "busy")}).acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()

	past := time.Now().Add(-sharedAge - time.Minute)
	for _, name := range []string{"old", "busy", "x.tmp"} {
		if err := os.Chtimes(filepath.Join(m.dir, name), past, past); err != nil {
			t.Fatal(err)
		}
	}

	if err := m.evict(); err != nil {
		t.Fatal(err)
	}

	want := files{"new/revision": "r", "busy/revision": "r", "busy.lock": "", "old.lock": ""}
	if diff := cmp.Diff(want, content(t, m.dir)); diff != "" {
		t.Errorf("evict(): -want, +got:\n%s", diff)
	}
}
