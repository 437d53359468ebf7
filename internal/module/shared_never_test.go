// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"
)

// TestSharedNever ensures that a module is not shared with Workspaces that could not get it from
// its source.
func TestSharedNever(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1"})
	commit := r.git(t, "rev-parse", "HEAD")
	s.users["r"] = "user:secret"

	shared, env := t.TempDir(), environment(t)
	credentials := []byte(strings.Replace(s.url, "http://", "http://user:secret@", 1) + "\n")

	// With the full name of a commit, a fetch makes no request.
	address := "git::" + s.url + "/r?ref=" + commit

	owner := newStorePlace(t, shared, address, env)
	owner.request.GitCredentials = credentials
	owner.ensure(t)

	stranger := newStorePlace(t, shared, address, env)
	stranger.ensureFails(t)
	stranger.expect(t, files{})

	// The environment may have credentials, too: a fetch with another environment makes a request.
	s.counts()

	other := newStorePlace(t, shared, address, append(env, "GIT_SSH_COMMAND=other"))
	other.request.GitCredentials = credentials
	other.ensure(t)

	s.expectClones(t, "with another environment", 1)

	colleague := newStorePlace(t, shared, address, append(env, "TF_VAR_x=y"))
	colleague.request.GitCredentials = credentials
	colleague.ensure(t)
	colleague.expect(t, files{"main.tf": "1"})

	if requests, _ := s.counts(); requests != 0 {
		t.Errorf("requests for a commit that was fetched with the same credentials: want none, got %d", requests)
	}
}

// TestSharedNeverByAddress ensures that credentials in an address count, too: fetches with no or
// other credentials do not get its commit.
func TestSharedNeverByAddress(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1", "a/main.tf": "a"})
	commit := r.git(t, "rev-parse", "HEAD")
	s.users["r"] = "user:secret"
	shared, env := t.TempDir(), environment(t)

	owner := newStorePlace(t, shared, "git::http://user:secret@"+s.host()+"/r?ref=main", env)
	owner.ensure(t)

	for _, login := range []string{"", "user@", "user:wrong@"} {
		for _, rest := range []string{"/r?ref=main", "/r?ref=" + commit, "/r//a?ref=" + commit} {
			stranger := newStorePlace(t, shared, "git::http://"+login+s.host()+rest, env)
			stranger.ensureFails(t)
			stranger.expect(t, files{})
		}
	}

	s.counts()

	colleague := newStorePlace(t, shared, "git::http://user:secret@"+s.host()+"/r//a?ref="+commit, env)
	colleague.ensure(t)
	colleague.expect(t, files{"main.tf": "a"})

	if requests, _ := s.counts(); requests != 0 {
		t.Errorf("requests for a commit that was fetched with the same credentials: want none, got %d", requests)
	}
}
