// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// A repo is a git repository with a working tree.
type repo struct {
	dir string
}

// newRepo returns a new repository at dir with a commit on branch main.
func newRepo(t *testing.T, dir string, f files) *repo {
	t.Helper()

	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	r := &repo{dir: dir}
	r.git(t, "init", "-q", "-b", "main")
	r.commit(t, f)

	return r
}

// git runs git in the repository.
func (r *repo) git(t *testing.T, args ...string) string {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = environment(t, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.org")

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}

	return strings.TrimSpace(string(out))
}

// commit replaces the files of the repository, and returns the name of the commit.
func (r *repo) commit(t *testing.T, f files) string {
	t.Helper()

	r.git(t, "rm", "-rfq", "--ignore-unmatch", ".")
	filesystem.Write(t, r.dir, f)
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", "change")

	return r.git(t, "rev-parse", "HEAD")
}

// A gitServer serves repositories over HTTP, and counts requests.
type gitServer struct {
	url, root string

	// users maps names of repositories to the user and password with the right to read them. Other
	// repositories are public.
	users map[string]string

	// before, if any, is called with every request, and whether it is a download.
	before func(w http.ResponseWriter, r *http.Request, fetching bool)

	mu       sync.Mutex
	requests int
	clones   int
}

func newGitServer(t *testing.T) *gitServer {
	t.Helper()

	out, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}

	s := &gitServer{root: t.TempDir(), users: map[string]string{}}
	backend := &cgi.Handler{
		Path:   filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Stderr: io.Discard,
		Env: []string{
			"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + s.root,
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
		},
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		user, password, _ := r.BasicAuth()

		s.mu.Lock()
		s.requests++
		want, restricted := s.users[name]
		s.mu.Unlock()

		if restricted && user+":"+password != want {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)

			return
		}

		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}

		fetching := isFetch(r, body)
		if fetching {
			s.mu.Lock()
			s.clones++
			s.mu.Unlock()
		}

		if s.before != nil {
			s.before(w, r, fetching)
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// repo makes a repository on the server.
func (s *gitServer) repo(t *testing.T, name string, f files) *repo {
	t.Helper()

	return newRepo(t, filepath.Join(s.root, name), f)
}

// counts returns the number of requests since the last call, and how many of them were downloads.
func (s *gitServer) counts() (requests, clones int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	requests, clones = s.requests, s.clones
	s.requests, s.clones = 0, 0

	return requests, clones
}

// expectClones fails the test unless there was this number of clones since the last call.
func (s *gitServer) expectClones(t *testing.T, what string, want int) {
	t.Helper()

	if _, got := s.counts(); got != want {
		t.Errorf("clones %s: want %d, got %d", what, want, got)
	}
}

func (s *gitServer) host() string { return strings.TrimPrefix(s.url, "http://") }

// isFetch reports whether a request downloads from a repository. Other requests list its refs.
func isFetch(r *http.Request, body []byte) bool {
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return false
		}

		if body, err = io.ReadAll(z); err != nil {
			return false
		}
	}

	return bytes.Contains(body, []byte("command=fetch"))
}
