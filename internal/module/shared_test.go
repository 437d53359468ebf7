// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
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
	newSharingPlace(t, shared, "git::"+s.url+"/r", env).ensure(t)

	for range 2 {
		trees, err := filepath.Glob(filepath.Join(shared, "trees", "*", "tree"))
		if err != nil || len(trees) != 1 {
			t.Fatalf("trees that are shared: want 1, got %q and error %v", trees, err)
		}

		if err := os.RemoveAll(trees[0]); err != nil {
			t.Fatal(err)
		}

		// One finds out, and the next one mends it.
		for range 2 {
			p := newSharingPlace(t, shared, "git::"+s.url+"/r", env)
			p.ensure(t)
			p.expect(t, files{"main.tf": "1"})
		}
	}
}

// TestSharedCheckout ensures that a commit is checked out once, whatever refs stand
// for it and whichever directories are wanted.
func TestSharedCheckout(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "old"})
	old := r.git(t, "rev-parse", "HEAD")
	commit := r.commit(t, files{"main.tf": "root", "a/main.tf": "a", "b/main.tf": "b", "b/link.tf": "-> main.tf"})
	r.git(t, "tag", "-a", "-m", "one", "v1")
	r.git(t, "tag", "light")
	r.git(t, "branch", "feature/x")

	// These names mean something else in a clone: its branch main comes first.
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
		{"Another directory of the commit is there.", "/r//b?ref=main", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
		{"So is the whole.", "/r?ref=main", root, 0},
		{"A branch that stands for the same commit.", "/r//a?ref=feature/x", files{"main.tf": "a"}, 0},
		{"An annotated tag.", "/r//b?ref=v1", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
		{"A tag that is not.", "/r?ref=light", root, 0},
		{"The commit itself.", "/r//a?ref=" + commit, files{"main.tf": "a"}, 0},
		{"The default branch.", "/r", root, 0},
		{"Another commit.", "/r?ref=" + old, files{"main.tf": "old"}, 1},
		{"What is one branch here is another in a clone.", "/r?ref=origin/main", root, 1},
		{"A tag wins over a branch.", "/r?ref=both", files{"main.tf": "old"}, 1},
		{"A name may look like a commit's.", "/r?ref=" + old[:8], files{"main.tf": "old"}, 1},
		{"An expression is cloned.", "/r?ref=main~1", files{"main.tf": "old"}, 1},
		{"Once.", "/r?ref=main~1", files{"main.tf": "old"}, 0},
		{"So is what has not all of the history.", "/r//a?ref=main&depth=1", files{"main.tf": "a"}, 1},
		{"For all directories.", "/r//b?ref=main&depth=1", files{"main.tf": "b", "link.tf": "-> main.tf"}, 0},
	}

	for _, step := range steps {
		address := "git::" + s.url + step.address
		s.counts()

		p := newSharingPlace(t, shared, address, env)
		p.ensure(t)
		p.expect(t, step.want)

		if _, clones := s.counts(); clones != step.clones {
			t.Errorf("%s\nclones for %q: want %d, got %d", step.reason, address, step.clones, clones)
		}

		// It is what it would be if nothing were shared.
		alone := newPlace(t, address)
		alone.ensure(t)
		alone.expect(t, step.want)

		_, err := os.Stat(filepath.Join(p.dir.Path(), ".git"))
		_, errAlone := os.Stat(filepath.Join(alone.dir.Path(), ".git"))

		if (err == nil) != (errAlone == nil) {
			t.Errorf("%s\nhistory of %q: want %v, got %v", step.reason, address, errAlone, err)
		}
	}

	// One checkout each of the two commits, of the three strange refs, of the
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
			p := newSharingPlace(t, shared, "git::"+s.url+"/r//"+name, env)

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

	if _, clones := s.counts(); clones != 1 {
		t.Errorf("clones for 8 directories: want 1, got %d", clones)
	}
}

// TestSharedNeverByAddress ensures that credentials in an address count as well: the
// commit that it leads to is not for those who have none, or others.
func TestSharedNeverByAddress(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "r", files{"main.tf": "1", "a/main.tf": "a"})
	commit := r.git(t, "rev-parse", "HEAD")
	s.users["r"] = "user:secret"
	shared, env := t.TempDir(), environment(t)

	owner := newSharingPlace(t, shared, "git::http://user:secret@"+s.host()+"/r?ref=main", env)
	owner.ensure(t)

	for _, login := range []string{"", "user@", "user:wrong@"} {
		for _, rest := range []string{"/r?ref=main", "/r?ref=" + commit, "/r//a?ref=" + commit} {
			stranger := newSharingPlace(t, shared, "git::http://"+login+s.host()+rest, env)
			stranger.ensureFails(t)
			stranger.expect(t, files{})
		}
	}

	s.counts()

	colleague := newSharingPlace(t, shared, "git::http://user:secret@"+s.host()+"/r//a?ref="+commit, env)
	colleague.ensure(t)
	colleague.expect(t, files{"main.tf": "a"})

	if requests, _ := s.counts(); requests != 0 {
		t.Errorf("requests for a commit that was fetched with the same credentials: want none, got %d", requests)
	}
}

// TestSharedMoved moves a branch between the look at it and its clone. Nobody gets
// what it was moved to for what it was, should it be that again.
func TestSharedMoved(t *testing.T) {
	t.Parallel()

	for _, query := range []string{"", "?ref=main", "?ref=main&depth=1"} {
		s := newGitServer(t)
		r := s.repo(t, "r", files{"main.tf": "0"})
		commit := r.commit(t, files{"main.tf": "1"})
		shared, env := t.TempDir(), environment(t)

		var looks atomic.Int32

		s.before = func(req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/info/refs") && looks.Add(1) == 2 {
				r.commit(t, files{"main.tf": "2"})
			}
		}

		first := newSharingPlace(t, shared, "git::"+s.url+"/r"+query, env)
		first.ensure(t)

		if looks.Load() < 2 {
			t.Fatalf("%q: the test expects a look before a clone", query)
		}

		r.git(t, "reset", "-q", "--hard", commit)

		second := newSharingPlace(t, shared, "git::"+s.url+"/r"+query, env)
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
	newSharingPlace(t, shared, "git::"+s.url+"/r", env).ensure(t)
	s.counts()

	p := newSharingPlace(t, shared, "git::"+s.url+"/r//modules?ref=main", env)
	p.request.Parameters.Entrypoint = "lib"
	p.ensure(t)
	p.expect(t, files{"lib/lib.tf": "lib"})

	if _, clones := s.counts(); clones != 0 {
		t.Errorf("clones: want none, got %d", clones)
	}
}

// TestSharedHTTP ensures that an archive is downloaded once for all who want it, or a
// directory in it, and again when there is another one.
func TestSharedHTTP(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	shared, env := t.TempDir(), environment(t)
	serve := func(version string) {
		s.serve("/m.tar.gz", gzipped(t, files{"main.tf": version, "a/main.tf": "a" + version}), "ETag", `"`+version+`"`)
	}
	get := func(sub, version string) {
		p := newSharingPlace(t, shared, s.url+"/m.tar.gz"+sub, env)
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

	serve("1")

	var wg sync.WaitGroup

	for range 4 {
		wg.Go(func() { get("", "1") })
		wg.Go(func() { get("//a", "1") })
	}

	wg.Wait()

	if _, downloads := s.counts(); downloads != 1 {
		t.Errorf("downloads of an archive for 8 directories: want 1, got %d", downloads)
	}

	serve("2")

	for range 2 {
		get("", "2")
		get("//a", "2")
	}

	if requests, downloads := s.counts(); requests != 4 || downloads != 1 {
		t.Errorf("looks at another archive, and downloads: want 4 and 1, got %d and %d", requests, downloads)
	}

	// The checksum is part of what is asked for.
	p := newSharingPlace(t, shared, s.url+"/m.tar.gz?checksum=sha256:"+strings.Repeat("0", 64), env)
	p.ensureFails(t)
	p.expect(t, files{})
}

// TestSharedArtifact ensures that an artifact with the right digest is downloaded once.
func TestSharedArtifact(t *testing.T) {
	t.Parallel()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/a.tar.gz", data)

	right := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	shared, env := t.TempDir(), environment(t)

	for _, digest := range []string{right, right, "sha256:" + strings.Repeat("0", 64)} {
		dir := t.TempDir()

		res, err := fetch.Run(t.Context(), self, env, fetch.Request{
			Artifact: &fetch.Artifact{URL: s.url + "/a.tar.gz", Digest: digest},
			Shared:   &fetch.Shared{Dir: shared},
			Dir:      dir,
		})

		if want := digest == right; want != (err == nil) {
			t.Fatalf("Run(...) with digest %q: want success %t, got %v", digest, want, err)
		}

		if err == nil {
			if diff := cmp.Diff(files{"main.tf": "1"}, content(t, res.Dir)); diff != "" {
				t.Errorf("files: -want, +got:\n%s", diff)
			}
		}
	}

	if _, downloads := s.counts(); downloads != 2 {
		t.Errorf("downloads of an artifact, and of one with another digest: want 2, got %d", downloads)
	}
}
