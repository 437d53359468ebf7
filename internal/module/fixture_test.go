// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

const testUID = "11111111-2222-3333-4444-555555555555"

// files are the contents of files by their names. Content that begins with an arrow
// is the target of a symbolic link.
type files map[string]string

// A place is a working directory and what is fetched into it.
type place struct {
	dir     *workdir.Dir
	fetcher *Fetcher
	request Request
}

// newPlace returns a new working directory for the module at an address.
func newPlace(t *testing.T, address string) *place {
	t.Helper()

	return newPlaceIn(t, filepath.Join(t.TempDir(), `it's a "root"`), address)
}

// newPlaceIn returns one below the given root.
func newPlaceIn(t *testing.T, path, address string) *place {
	t.Helper()

	root, err := workdir.Open(path)
	if err != nil {
		t.Fatal(err)
	}

	dir, err := root.Dir(testUID)
	if err != nil {
		t.Fatal(err)
	}

	p := &place{dir: dir, fetcher: NewFetcher(nil, nil)}
	p.request = Request{Dir: dir, Env: environment(t)}
	p.request.Parameters.Source = commonv1beta1.ModuleSourceRemote
	p.request.Parameters.Module = address

	return p
}

// environment for programs: nothing of the machine's but where they are.
func environment(t *testing.T, more ...string) []string {
	t.Helper()

	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, more...)
}

// ensure fetches the module, which has to succeed.
func (p *place) ensure(t *testing.T) string {
	t.Helper()

	address, err := p.fetcher.Ensure(t.Context(), p.request)
	if err != nil {
		t.Fatalf("Ensure(...): %v", err)
	}

	return address
}

// ensureFails fetches the module, which has to fail, and returns the message.
func (p *place) ensureFails(t *testing.T) string {
	t.Helper()

	_, err := p.fetcher.Ensure(t.Context(), p.request)
	if err == nil {
		t.Fatal("Ensure(...): want an error")
	}

	if msg := err.Error(); strings.ContainsAny(msg, "\n\r") || len(msg) > 2000 || strings.Contains(msg, p.dir.Path()) {
		t.Errorf("Ensure(...): want an error of one line that is the same every time, got %q", msg)
	}

	return err.Error()
}

// expect fails unless the directory has these files, and nothing that a fetch leaves
// behind.
func (p *place) expect(t *testing.T, want files) {
	t.Helper()

	if diff := cmp.Diff(want, content(t, p.dir.Path())); diff != "" {
		t.Errorf("files of the module: -want, +got:\n%s", diff)
	}
}

// identity of a file: another one after it was replaced.
func (p *place) identity(t *testing.T, name string) os.FileInfo {
	t.Helper()

	info, err := os.Lstat(filepath.Join(p.dir.Path(), name))
	if err != nil {
		t.Fatal(err)
	}

	return info
}

// content of the files below dir. The history of a repository is left out, and so is
// the record of what was fetched.
func content(t *testing.T, dir string) files {
	t.Helper()

	got := files{}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir(), e.Name() == ".git", e.Name() == ".crossplane-module.json", e.Name() == ".crossplane-files.json":
			return nil
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

// writeFiles writes files below dir.
func writeFiles(t *testing.T, dir string, f files) {
	t.Helper()

	for name, content := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}

		if err != nil {
			t.Fatal(err)
		}
	}
}

// A repo is a git repository with a working tree.
type repo struct {
	dir string
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

// commit makes these the files of the repository, and returns the name of the commit.
func (r *repo) commit(t *testing.T, f files) string {
	t.Helper()

	r.git(t, "rm", "-rfq", "--ignore-unmatch", ".")
	writeFiles(t, r.dir, f)
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", "change")

	return r.git(t, "rev-parse", "HEAD")
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

// A gitServer serves repositories over HTTP, and counts what is asked for.
type gitServer struct {
	url, root string

	// users maps names of repositories to the one user, and password, who may read
	// it. Everybody may read others.
	users map[string]string

	// before, if any, is called with every request.
	before func(r *http.Request)

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
		if s.before != nil {
			s.before(r)
		}

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

		if isFetch(r, body) {
			s.mu.Lock()
			s.clones++
			s.mu.Unlock()
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// isFetch reports whether a request downloads something from a repository, as
// opposed to asking what there is.
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

// repo makes a repository on the server.
func (s *gitServer) repo(t *testing.T, name string, f files) *repo {
	t.Helper()

	return newRepo(t, filepath.Join(s.root, name), f)
}

// counts returns how many requests there were, and how many of them were downloads,
// since the last call.
func (s *gitServer) counts() (requests, clones int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	requests, clones = s.requests, s.clones
	s.requests, s.clones = 0, 0

	return requests, clones
}

// host returns the address of the server without the scheme.
func (s *gitServer) host() string { return strings.TrimPrefix(s.url, "http://") }

// tarball returns the files as a .tar.
func tarball(t *testing.T, f files) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	w := tar.NewWriter(b)

	for _, name := range slices.Sorted(maps.Keys(f)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(f[name]))}
		if target, ok := strings.CutPrefix(f[name], "-> "); ok {
			h = &tar.Header{Typeflag: tar.TypeSymlink, Name: name, Mode: 0o777, Linkname: target}
		}

		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}

		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, f[name]); err != nil {
				t.Fatal(err)
			}
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// gzipped returns the files as a .tar.gz.
func gzipped(t *testing.T, f files) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	w := gzip.NewWriter(b)

	if _, err := w.Write(tarball(t, f)); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// A fileServer serves files over HTTP, and counts how often it sends one.
type fileServer struct {
	url string

	mu        sync.Mutex
	content   map[string][]byte
	headers   map[string]http.Header
	requests  []*http.Request
	downloads int

	handle func(w http.ResponseWriter, r *http.Request) bool
}

func newFileServer(t *testing.T) *fileServer {
	t.Helper()

	s := &fileServer{content: map[string][]byte{}, headers: map[string]http.Header{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// serve content at a path, with headers as names and values in turn.
func (s *fileServer) serve(path string, content []byte, headers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.content[path] = content
	s.headers[path] = http.Header{}

	for kv := range slices.Chunk(headers, 2) {
		s.headers[path].Set(kv[0], kv[1])
	}
}

// intercept requests: handle may answer them, and returns whether it did.
func (s *fileServer) intercept(handle func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.handle = handle
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Clone(r.Context()))
	content, ok := s.content[r.URL.Path]
	maps.Copy(w.Header(), s.headers[r.URL.Path])
	handle := s.handle
	s.mu.Unlock()

	if handle != nil && handle(w, r) {
		return
	}

	if !ok {
		http.NotFound(w, r)

		return
	}

	etag, modified := w.Header().Get("ETag"), w.Header().Get("Last-Modified")
	if etag != "" && r.Header.Get("If-None-Match") == etag || etag == "" && modified != "" && r.Header.Get("If-Modified-Since") == modified {
		w.WriteHeader(http.StatusNotModified)

		return
	}

	s.mu.Lock()
	s.downloads++
	s.mu.Unlock()

	_, _ = w.Write(content)
}

// counts returns how many requests there were, and how many of them were downloads,
// since the last call.
func (s *fileServer) counts() (requests, downloads int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	requests, downloads = len(s.requests), s.downloads
	s.requests, s.downloads = nil, 0

	return requests, downloads
}
