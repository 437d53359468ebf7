// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// newStorePlace returns a place that shares its modules in a directory.
func newStorePlace(t *testing.T, shared, address string, env []string) *place {
	t.Helper()

	p := newPlace(t, address)
	p.fetcher = NewFetcher(nil, Options{Program: os.Args[0], SharedDir: shared, Observe: func(bool) {}})
	p.request.Env = env

	return p
}

// TestShared fetches one module into several directories at once, and then another commit of it
// one by one.
func TestShared(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1", "sub/link.tf": "-> ../main.tf"})
	shared, env := t.TempDir(), environment(t)

	var (
		all  []*place
		hits []bool
		wg   sync.WaitGroup
	)

	for range 4 {
		p := newStorePlace(t, shared, "git::"+s.url+"/r?ref=main", env)
		all = append(all, p)

		wg.Go(func() {
			if _, err := p.fetcher.Ensure(t.Context(), p.request); err != nil {
				t.Error(err)
			}
		})
	}

	wg.Wait()

	for _, p := range all {
		p.expect(t, files{"main.tf": "1", "sub/link.tf": "-> ../main.tf"})
		p.fetcher.options.Observe = func(hit bool) { hits = append(hits, hit) }
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

	// Nothing is new.
	before := all[1].identity(t, "main.tf")
	all[1].ensure(t)

	if !os.SameFile(before, all[1].identity(t, "main.tf")) {
		t.Error("the module was replaced by the same")
	}

	// A new directory gets the current module of the source, whatever the policy.
	r.commit(t, files{"main.tf": "3"})

	p := newStorePlace(t, shared, "git::"+s.url+"/r?ref=main", env)
	p.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent
	p.ensure(t)
	p.expect(t, files{"main.tf": "3"})

	if diff := cmp.Diff([]bool{false, true, true, true}, hits); diff != "" {
		t.Errorf("hits of the store for a new commit: -want, +got:\n%s", diff)
	}
}

// TestSharedRefs ensures that a ref is checked out once, for all directories in it.
func TestSharedRefs(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "old"})
	commit := r.commit(t, files{"main.tf": "root", "a/main.tf": "a", "b/main.tf": "b", "b/link.tf": "-> main.tf"})

	root := files{"main.tf": "root", "a/main.tf": "a", "b/main.tf": "b", "b/link.tf": "-> main.tf"}
	shared, env := t.TempDir(), environment(t)

	for _, step := range []struct {
		reason  string
		address string
		want    files
		clones  int
	}{
		{"The first one clones.", "/r//a?ref=main", files{"main.tf": "a"}, 1},
		{"Another directory of the ref is reused.", "/r//b?ref=main", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
		{"So is the whole tree.", "/r?ref=main", root, 0},
		{"A commit is cloned.", "/r?ref=" + commit, root, 1},
		{"Once.", "/r//a?ref=" + commit, files{"main.tf": "a"}, 0},
		{"An expression is cloned.", "/r?ref=main~1", files{"main.tf": "old"}, 1},
		{"Once.", "/r?ref=main~1", files{"main.tf": "old"}, 0},
		{"A shallow clone is separate.", "/r//a?ref=main&depth=1", files{"main.tf": "a"}, 1},
	} {
		s.counts()

		p := newStorePlace(t, shared, "git::"+s.url+step.address, env)
		p.ensure(t)
		p.expect(t, step.want)

		s.expectClones(t, fmt.Sprintf("for %q: %s", step.address, step.reason), step.clones)

		if _, err := os.Stat(filepath.Join(p.dir.Path(), ".git")); strings.Contains(step.address, "//") == (err == nil) {
			t.Errorf("%s\nhistory of %q: got %v", step.reason, step.address, err)
		}
	}
}

// TestSharedMoved moves a branch between the check of its revision and its clone. When the branch
// is moved back, no fetch gets the tree of the other commit.
func TestSharedMoved(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "0"})
	commit := r.commit(t, files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)

	var checks atomic.Int32

	s.before = func(_ http.ResponseWriter, req *http.Request, _ bool) {
		if strings.HasSuffix(req.URL.Path, "/info/refs") && checks.Add(1) == 3 {
			r.commit(t, files{"main.tf": "2"})
		}
	}

	first := newStorePlace(t, shared, "git::"+s.url+"/r?ref=main", env)
	first.ensure(t)
	first.expect(t, files{"main.tf": "2"})

	r.git(t, "reset", "-q", "--hard", commit)

	for _, p := range []*place{newStorePlace(t, shared, "git::"+s.url+"/r?ref=main", env), first} {
		p.ensure(t)
		p.expect(t, files{"main.tf": "1"})
	}
}

// TestSharedNever ensures that a module is not shared with Workspaces that could not get it from
// its source. With the full name of a commit, a fetch makes no request.
func TestSharedNever(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1", "a/main.tf": "a"})
	commit := r.git(t, "rev-parse", "HEAD")
	s.users["r"] = "user:secret"

	shared, env := t.TempDir(), environment(t)
	credentials := "http://user:secret@" + s.host() + "\n"

	for _, step := range []struct {
		reason string
		// login is put before the host in the address.
		login, directory, credentials string
		env                           string
		fails                         bool
		clones                        int
	}{
		{reason: "The first one.", credentials: credentials, clones: 1},
		{reason: "A stranger has no credentials.", fails: true},
		{reason: "The environment may have credentials, too.", credentials: credentials, env: "GIT_SSH_COMMAND=other", clones: 1},
		{reason: "The first one with credentials in the address.", login: "user:secret@", clones: 1},
		{reason: "Another directory with the same credentials.", login: "user:secret@", directory: "//a"},
		{reason: "Other credentials in the address.", login: "user:wrong@", fails: true},
		{reason: "A part of the credentials.", login: "user@", directory: "//a", fails: true},
	} {
		s.counts()

		p := newStorePlace(t, shared, "git::http://"+step.login+s.host()+"/r"+step.directory+"?ref="+commit, env)
		p.request.GitCredentials = []byte(step.credentials)

		if step.env != "" {
			p.request.Env = append(slices.Clone(env), step.env)
		}

		if step.fails {
			p.ensureFails(t)
			p.expect(t, files{})

			continue
		}

		p.ensure(t)

		if requests, clones := s.counts(); clones != step.clones || step.clones == 0 && requests > 0 {
			t.Errorf("%s\nclones: want %d, got %d in %d requests", step.reason, step.clones, clones, requests)
		}
	}
}

// TestSharedBroken ensures that a broken tree is replaced, and that a tree in use is not evicted.
func TestSharedBroken(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "r", files{"main.tf": "1"})
	shared, env := t.TempDir(), environment(t)

	fetched := func(what string, clones int) {
		t.Helper()
		s.counts()

		p := newStorePlace(t, shared, "git::"+s.url+"/r", env)
		p.ensure(t)
		p.expect(t, files{"main.tf": "1"})
		s.expectClones(t, what, clones)
	}

	fetched("of a new module", 1)

	trees, err := filepath.Glob(filepath.Join(shared, "trees", "*"))
	if err != nil || len(trees) != 1 {
		t.Fatalf("trees that are shared: want 1, got %q and error %v", trees, err)
	}

	if err := os.RemoveAll(filepath.Join(trees[0], "tree")); err != nil {
		t.Fatal(err)
	}

	fetched("of a broken module", 1)

	old := time.Now().Add(-maxTreeAge / 2)
	if err := os.Chtimes(trees[0], old, old); err != nil {
		t.Fatal(err)
	}

	fetched("of the module that has replaced it", 0)

	info, err := os.Stat(trees[0])
	if err != nil {
		t.Fatal(err)
	}

	if !info.ModTime().After(old.Add(time.Minute)) {
		t.Errorf("time of the last use: want now, got %v", info.ModTime())
	}
}

// TestSharedHTTP ensures that an archive is downloaded once for all places that need it or a
// directory in it, and again when it changes.
func TestSharedHTTP(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	shared, env := t.TempDir(), environment(t)
	serve := func(version string) {
		s.serve("/m.tar.gz", gzipped(t, files{"main.tf": version, "a/main.tf": "a" + version}), "ETag", `"`+version+`"`)
	}
	get := func(sub, version string) {
		p := newStorePlace(t, shared, s.url+"/m.tar.gz"+sub, env)
		if _, err := p.fetcher.Ensure(t.Context(), p.request); err != nil {
			t.Error(err)
		}

		want := files{"main.tf": version, "a/main.tf": "a" + version}
		if sub != "" {
			want = files{"main.tf": "a" + version}
		}

		if diff := cmp.Diff(want, content(t, p.dir.Path())); diff != "" {
			t.Errorf("files of directory %q: -want, +got:\n%s", sub, diff)
		}
	}

	expect := func(what string, wantRequests int) {
		t.Helper()

		if requests, _ := s.counts(); requests != wantRequests {
			t.Errorf("requests for %s: want %d, got %d", what, wantRequests, requests)
		}
	}

	serve("1")

	var wg sync.WaitGroup

	for range 2 {
		wg.Go(func() { get("", "1") })
		wg.Go(func() { get("//a", "1") })
	}

	wg.Wait()
	expect("an archive: 4 checks and a download", 5)

	serve("2")

	for range 2 {
		get("", "2")
		get("//a", "2")
	}

	expect("another archive: 4 checks and a download", 5)

	// The checksum is part of the address.
	p := newStorePlace(t, shared, s.url+"/m.tar.gz?checksum=sha256:"+strings.Repeat("0", 64), env)
	if first, second := p.ensureFails(t), p.ensureFails(t); first != second {
		t.Errorf("want the same message for the same error, got %q, then %q", first, second)
	}

	p.expect(t, files{})
}

// TestSharedETag ensures that a new version is used, regardless of the bytes in its ETag.
func TestSharedETag(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	p := newStorePlace(t, t.TempDir(), s.url+"/m.tar.gz", environment(t))

	for _, tag := range []string{"\xfe", "\xff"} {
		s.serve("/m.tar.gz", gzipped(t, files{"main.tf": tag}), "ETag", `"`+tag+`"`)
		p.ensure(t)
		p.expect(t, files{"main.tf": tag})
	}
}

// TestSharedUnusable ensures that modules are downloaded if no tree can be shared.
func TestSharedUnusable(t *testing.T) {
	t.Parallel()

	for _, name := range []string{treesDir, locksDir} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newFileServer(t)
			s.serve("/m.tar.gz", gzipped(t, files{"main.tf": "m"}), "ETag", `"1"`)

			shared := t.TempDir()
			filesystem.Write(t, shared, files{name: "no directory"})

			p := newStorePlace(t, shared, s.url+"/m.tar.gz", environment(t))
			p.ensure(t)
			p.expect(t, files{"main.tf": "m"})
		})
	}
}

// TestChecksumFile ensures that the revision of an archive differs from that of the file with its
// checksum.
func TestChecksumFile(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/m.tar.gz", data, "ETag", `"1"`)
	s.serve("/sums", fmt.Appendf(nil, "%x  m.tar.gz\n", sha256.Sum256(data)), "ETag", `"2"`)

	p := newStorePlace(t, t.TempDir(), s.url+"/m.tar.gz?checksum=file:"+s.url+"/sums", environment(t))
	p.ensure(t)
	p.expect(t, files{"main.tf": "1"})
	s.counts()

	p.ensure(t)
	s.expectDownloads(t, "of the checksum only", 1)
}

// TestStoreModes has files of all modes that archives have. Each place gets them, whether it has downloaded the module or not.
func TestStoreModes(t *testing.T) {
	t.Parallel()

	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "tree")
	modes := map[string]fs.FileMode{"flux": 0o600, "program": 0o700, "git-archive": 0o664, "all": 0o755}

	for name, mode := range modes {
		path := filepath.Join(src, name)
		if err := errors.Join(os.WriteFile(path, []byte("1"), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}

	s := newStore(t.TempDir())
	s.Put("key", src)

	if ok, err := s.Get("key", "", dst); !ok || err != nil {
		t.Fatalf("Get(...): want a tree, got %t and error %v", ok, err)
	}

	for name, want := range modes {
		info, err := os.Stat(filepath.Join(dst, name))
		if err != nil {
			t.Fatal(err)
		}

		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %q: want %o, got %o", name, want, got)
		}
	}
}

// TestSharedArtifact ensures that an artifact with the right digest is downloaded once.
func TestSharedArtifact(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/a.tar.gz", data)

	right := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	shared, env := t.TempDir(), environment(t)

	for _, digest := range []string{right, right, "sha256:" + strings.Repeat("0", 64)} {
		p := newStorePlace(t, shared, "", env)
		url := s.url + "/a.tar.gz"

		err := p.fetcher.update(t.Context(), p.request, source{address: url, revision: digest, request: fetch.Request{Artifact: &fetch.Artifact{URL: url, Digest: digest}}})
		if want := digest == right; want != (err == nil) {
			t.Fatalf("update(...) with digest %q: want success %t, got %v", digest, want, err)
		}

		if err == nil {
			p.expect(t, files{"main.tf": "1"})
		}
	}

	s.expectDownloads(t, "of an artifact, and of one with another digest", 2)
}

// TestLock ensures that fetches of one tree wait for each other, and those of different trees do not,
// even if their keys begin alike.
func TestLock(t *testing.T) {
	t.Parallel()

	const key = "abcdef"

	cases := map[string]struct {
		reason, other string
		waits         bool
	}{
		"Same":      {reason: "Both would download the same.", other: key, waits: true},
		"FirstByte": {reason: "Each of them downloads something else.", other: "ab0000"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStore(t.TempDir())
			defer s.Lock(t.Context(), key)()

			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()

			defer s.Lock(ctx, tc.other)()

			if waited := ctx.Err() != nil; waited != tc.waits {
				t.Errorf("%s\nLock(...): want it to wait: %t, got %t", tc.reason, tc.waits, waited)
			}
		})
	}
}

// TestEvict ensures that a tree that no fetch has used for long is removed without another fetch.
func TestEvict(t *testing.T) {
	t.Parallel()

	shared, tree := t.TempDir(), t.TempDir()
	filesystem.Write(t, tree, files{"main.tf": "m"})

	s := newStore(shared)
	s.Put("old", tree)
	s.Put("new", tree)

	then := time.Now().Add(-2 * maxTreeAge)
	if err := os.Chtimes(s.trees.Path("old"), then, then); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := Evict(ctx, shared); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{"new"}, filesystem.Names(t, s.trees.Dir)); diff != "" {
		t.Errorf("trees after a start: -want, +got:\n%s", diff)
	}
}
