// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestGitAddresses(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "first", "modules/a/main.tf": "a", "modules/b/main.tf": "b"})
	first := r.git(t, "rev-parse", "HEAD")
	r.git(t, "tag", "-a", "-m", "one", "v1.0.0")
	r.commit(t, files{"main.tf": "second", "modules/a/main.tf": "a2", "modules/a/link.tf": "-> main.tf"})
	r.git(t, "branch", "stable", first)
	r.git(t, "branch", "feature/x")

	// What ssh would run on the other machine, this one runs here.
	bin := t.TempDir()
	ssh := "#!/bin/sh\nfor last; do :; done\necho \"$@\" >>" + bin + "/log\ncase $* in *' -i '*|'-i '*) echo key >>" + bin + "/log ;; esac\nexec sh -c \"$last\"\n"
	if err := os.WriteFile(filepath.Join(bin, "ssh"), []byte(ssh), 0o755); err != nil {
		t.Fatal(err)
	}

	web := "git::" + s.url + "/repo"
	whole := files{"main.tf": "first", "modules/a/main.tf": "a", "modules/b/main.tf": "b"}
	latest := files{"main.tf": "second", "modules/a/main.tf": "a2", "modules/a/link.tf": "-> main.tf"}

	cases := map[string]struct {
		reason  string
		address string
		want    files
		// history says that the repository is complete.
		history bool
	}{
		"NoRef":         {"Without a ref it is the default branch.", web, latest, true},
		"Branch":        {"A branch.", web + "?ref=stable", whole, true},
		"BranchSlash":   {"A branch with a slash in its name.", web + "?ref=feature/x", latest, true},
		"Tag":           {"A tag.", web + "?ref=v1.0.0", whole, true},
		"FullRef":       {"The full name of a tag.", web + "?ref=refs/tags/v1.0.0", whole, true},
		"Commit":        {"A commit.", web + "?ref=" + first, whole, true},
		"ShortCommit":   {"The beginning of a commit's name.", web + "?ref=" + first[:10], whole, true},
		"Expression":    {"Whatever else git takes for a commit.", web + "?ref=main~1", whole, true},
		"Shallow":       {"Without history.", web + "?ref=stable&depth=1", whole, true},
		"Directory":     {"One directory.", web + "//modules/b?ref=v1.0.0", files{"main.tf": "b"}, false},
		"DirectoryLink": {"Links inside of the directory stay.", web + "//modules/a", files{"main.tf": "a2", "link.tf": "-> main.tf"}, false},
		"Pattern":       {"A directory by a pattern.", web + "//modules/[b]?ref=stable", files{"main.tf": "b"}, false},
		"File":          {"A repository on this machine.", "git::file://" + r.dir + "?ref=stable", whole, true},
		"Path":          {"A repository on this machine, by its path.", "git::" + r.dir, latest, true},
		"PathDirectory": {"A directory of it.", "git::" + r.dir + "//modules/a?ref=v1.0.0", files{"main.tf": "a"}, false},
		"SSH":           {"A repository by ssh.", "git::ssh://git@example.org" + r.dir + "?ref=stable", whole, true},
		"SCP":           {"The short form of it.", "git@example.org:" + r.dir + "?ref=stable", whole, true},
		"SSHKey": {
			"A key in the address.",
			"git::ssh://git@example.org" + r.dir + "?ref=stable&sshkey=" + base64.StdEncoding.EncodeToString([]byte("key")), whole, true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// Go-getter itself cannot use a key below a directory with a strange name.
			p := newPlaceIn(t, t.TempDir(), tc.address)
			p.request.Env = environment(t, "PATH="+bin+":"+os.Getenv("PATH"))

			if got := p.ensure(t); got != tc.address {
				t.Errorf("%s\nEnsure(...): want %q, got %q", tc.reason, tc.address, got)
			}

			p.expect(t, tc.want)

			if _, err := os.Stat(filepath.Join(p.dir.Path(), ".git")); tc.history != (err == nil) {
				t.Errorf("%s\nhistory: want %t, got %v", tc.reason, tc.history, err)
			}

			before := p.identity(t, "main.tf")
			p.ensure(t)

			if !os.SameFile(before, p.identity(t, "main.tf")) {
				t.Errorf("%s\nthe second Ensure fetched what was there", tc.reason)
			}
		})
	}

	t.Cleanup(func() {
		log, err := os.ReadFile(filepath.Join(bin, "log"))
		if err != nil {
			t.Error(err)
		}
		// The key is used to look, twice, and to clone.
		if got := strings.Count(string(log), "\nkey\n"); got != 3 {
			t.Errorf("ssh got the key %d times, want 3:\n%s", got, log)
		}
	})
}

func TestGitErrors(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "m", "out.tf": "-> /etc/passwd", "sub/main.tf": "s", "sub/up.tf": "-> ../main.tf", "dir/x.txt": "x"})
	r.git(t, "branch", "bad")
	r.commit(t, files{"main.tf": "m", "sub/main.tf": "s", "sub/up.tf": "-> ../main.tf", "dir/x.txt": "x"})
	newRepo(t, filepath.Join(s.root, "empty"), nil)

	web := "git::" + s.url

	cases := map[string]struct {
		reason  string
		address string
		want    string
	}{
		"NoRepository": {
			reason:  "The message says what git says.",
			address: web + "/none",
			want:    `cannot fetch module "` + web + `/none": git ls-remote: exit status 128: fatal: repository '` + s.url + `/none/' not found`,
		},
		"NoServer": {
			reason:  "The message names the server.",
			address: "git::http://127.0.0.1:1/repo",
			want:    "fatal: unable to access 'http://127.0.0.1:1/repo/': Failed to connect",
		},
		"NoRef": {
			reason:  "The message names the ref.",
			address: web + "/repo?ref=none",
			want:    `cannot fetch module "` + web + `/repo?ref=none": invalid ref: "none"`,
		},
		"NoDirectory": {
			reason:  "The message names the directory.",
			address: web + "/repo//none",
			want:    `there is no directory "none"`,
		},
		"DirectoryIsFile": {
			reason:  "A file is no module.",
			address: web + "/repo//main.tf",
			want:    `"main.tf" is not a directory`,
		},
		"Ambiguous": {
			reason:  "A pattern has to match one directory.",
			address: web + "/repo//*",
			want:    `directory "*" is ambiguous: there are .git, dir, main.tf, sub`,
		},
		"DirectoryOutside": {
			reason:  "A directory inside is inside.",
			address: web + "/repo//sub/../../x",
			want:    `directory "sub/../../x" leads out of the module`,
		},
		"LinkOut": {
			reason:  "Links lead nowhere outside.",
			address: web + "/repo?ref=bad",
			want:    `symbolic link "out.tf" leads out of the module, to "/etc/passwd"`,
		},
		"LinkOutOfDirectory": {
			reason:  "Nor do links of the one directory.",
			address: web + "/repo//sub",
			want:    `symbolic link "up.tf" leads out of the module, to "../main.tf"`,
		},
		"NoConfiguration": {
			reason:  "With nothing but what is written beside the module, the CLI would destroy everything.",
			address: web + "/repo//dir",
			want:    `cannot use spec.forProvider.entrypoint "": the module has no configuration there, no file *.tf`,
		},
		"Empty": {
			reason:  "Nor is an empty repository a module.",
			address: web + "/empty",
			want:    `the module has no configuration there`,
		},
		"Option": {
			reason:  "An address is not an option of git.",
			address: "git::--upload-pack=touch@example.org:x",
			want:    "cannot fetch module",
		},
		"External": {
			reason:  "Programs are not run as a transport.",
			address: "git::ext::sh -c touch",
			want:    "cannot fetch module",
		},
		"Unknown": {
			reason:  "What is no address is called so.",
			address: "hashicorp/consul/aws",
			want:    `cannot fetch module "hashicorp/consul/aws": it is neither a URL nor an absolute path`,
		},
		"UnknownScheme": {
			reason:  "A scheme that nobody knows is named.",
			address: "gopher://example.org/module",
			want:    "download not supported for scheme 'gopher'",
		},
		"Nothing": {
			reason:  "No address is none.",
			address: "",
			want:    "cannot fetch module",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)
			if got := p.ensureFails(t); !strings.Contains(got, tc.want) {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestGitPolicy counts what a server is asked for.
func TestGitPolicy(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})
	commit := r.git(t, "rev-parse", "HEAD")

	always := newPlace(t, "git::"+s.url+"/repo?ref=main")
	pinned := newPlace(t, "git::"+s.url+"/repo?ref="+commit)
	once := newPlace(t, "git::"+s.url+"/repo?ref=main")
	once.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent

	expect := func(p *place, what string, wantLook, wantClone bool) {
		t.Helper()
		p.ensure(t)

		requests, clones := s.counts()
		if (requests > 0) != wantLook || (clones > 0) != wantClone {
			t.Errorf("%s: want look %t and download %t, got %d requests, %d downloads", what, wantLook, wantClone, requests, clones)
		}
	}

	expect(always, "Always, first", true, true)
	expect(always, "Always, nothing new", true, false)
	expect(pinned, "a commit, first", true, true)
	expect(pinned, "a commit", false, false)
	expect(once, "IfNotPresent, first", true, true)

	r.commit(t, files{"main.tf": "2"})
	expect(always, "Always, something new", true, true)
	always.expect(t, files{"main.tf": "2"})
	expect(always, "Always, nothing new again", true, false)
	expect(pinned, "a commit, whatever there is", false, false)
	expect(once, "IfNotPresent, something new", false, false)
	once.expect(t, files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})

	// A change on another branch is nothing new.
	r.git(t, "branch", "other")
	expect(always, "Always, another branch", true, false)

	// An expression means another commit when a branch does.
	before := newPlace(t, "git::"+s.url+"/repo?ref=main~1")
	expect(before, "an expression, first", true, true)
	before.expect(t, files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})
	r.commit(t, files{"main.tf": "3"})
	expect(before, "an expression, something new", true, true)
	before.expect(t, files{"main.tf": "2"})
	expect(before, "an expression, nothing new", true, false)

	// An incomplete module is none, whatever the policy.
	for _, p := range []*place{always, pinned, once} {
		if err := os.Remove(filepath.Join(p.dir.Path(), "main.tf")); err != nil {
			t.Fatal(err)
		}

		expect(p, "incomplete", true, true)
	}

	// Another address is another module.
	once.request.Parameters.Module = "git::" + s.url + "/repo?ref=other"
	expect(once, "IfNotPresent, another address", true, true)
	once.expect(t, files{"main.tf": "2"})
}

// TestStateSurvives ensures that a fetch keeps its hands off what the CLI wrote.
func TestStateSurvives(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1", "envs/prod/main.tf": "1", "gone/main.tf": "1", "terraform.tfstate": "committed by mistake"})

	p := newPlace(t, "git::"+s.url+"/repo")
	p.request.Parameters.Entrypoint = "envs/prod"
	p.ensure(t)
	p.expect(t, files{"main.tf": "1", "envs/prod/main.tf": "1", "gone/main.tf": "1"})

	ours := files{
		"envs/prod/terraform.tfstate.d/ws/terraform.tfstate": "state", "envs/prod/.terraform/providers/x": "p", "envs/prod/.terraform.lock.hcl": "lock",
		"terraform.tfstate": "state", "gone/.terraform/x": "x",
	}
	writeFiles(t, p.dir.Path(), ours)

	r.commit(t, files{"main.tf": "2", "envs/prod/main.tf": "2"})
	p.ensure(t)

	want := files{"main.tf": "2", "envs/prod/main.tf": "2"}
	maps.Copy(want, ours)

	p.expect(t, want)

	// What is left of a directory that was deleted upstream is no module.
	p.request.Parameters.Entrypoint = "gone"
	if got, want := p.ensureFails(t), `cannot use spec.forProvider.entrypoint "gone": the module has no configuration there`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}

	p.request.Parameters.Entrypoint = "../x"
	if got, want := p.ensureFails(t), `cannot use spec.forProvider.entrypoint "../x": it leaves the module`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}
}

// TestSwitchSource ensures that nothing of a source stays when there is another.
func TestSwitchSource(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "a", files{"main.tf": "a", "a.tf": "a"})
	s.repo(t, "b", files{"main.tf": "b"})

	p := newPlace(t, "git::"+s.url+"/a")
	p.ensure(t)
	p.request.Parameters.Module = "git::" + s.url + "/b"
	p.ensure(t)
	p.expect(t, files{"main.tf": "b"})

	writeFiles(t, p.dir.Path(), files{"terraform.tfstate": "state"})
	p.request.Parameters.Source = commonv1beta1.ModuleSourceInline

	if got := p.ensure(t); got != "" {
		t.Errorf("Ensure(...) of an inline module: want no address, got %q", got)
	}

	p.expect(t, files{"terraform.tfstate": "state"})

	p.request.Parameters.Source = "Other"
	if got, want := p.ensureFails(t), `spec.forProvider.source "Other" is not supported`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}
}

func TestGitCredentials(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	for repo, user := range map[string]string{"private": "me:s3cr3t-p4ss", "token": "t0k3n-0123456789:", "operator": "operator:0p3r4t0r"} {
		s.repo(t, repo, files{"main.tf": repo})
		s.users[repo] = user
	}

	cases := map[string]struct {
		reason string
		// login is put before the host in the address.
		login, repo, creds string
		// operator says that a helper for credentials is configured for everybody, and
		// asked that it is to be used.
		operator, asked bool
		// want is the message, or empty.
		want string
	}{
		"File": {
			reason:   "Credentials may come from a file.",
			repo:     "private",
			creds:    "http://other:x@example.org\nhttp://me:s3cr3t-p4ss@" + s.host() + "\n",
			operator: true,
		},
		"Address": {
			reason:   "Credentials may be in the address.",
			login:    "me:s3cr3t-p4ss@",
			repo:     "private",
			operator: true,
		},
		"AddressEscaped": {
			reason: "They may be escaped there.",
			login:  "me:s3cr3t%2Dp4ss@",
			repo:   "private",
		},
		"AddressWins": {
			reason: "Those in the address win.",
			login:  "me:s3cr3t-p4ss@",
			repo:   "private",
			creds:  "http://me:wr0ng-s3cr3t@" + s.host(),
		},
		"Token": {
			reason: "A token may be all there is.",
			login:  "t0k3n-0123456789@",
			repo:   "token",
		},
		"None": {
			reason: "Nobody is asked.",
			repo:   "private",
			want:   "fatal: could not read Username for '" + s.url + "': terminal prompts disabled",
		},
		"WrongFile": {
			reason: "Wrong credentials are not shown.",
			repo:   "private",
			creds:  "http://me:wr0ng-s3cr3t@" + s.host(),
			want:   "fatal: Authentication failed for '" + s.url + "/private/'",
		},
		"WrongAddress": {
			reason: "Neither are those in the address.",
			login:  "us3r-s3cr3t:wr0ng-s3cr3t@",
			repo:   "private",
			want:   `cannot fetch module "git::` + s.url + `/private": git ls-remote: exit status 128: fatal: Authentication failed for '` + s.url + "/private/'",
		},
		"Operator": {
			reason:   "What is configured for everybody helps those who have nothing of their own.",
			repo:     "operator",
			operator: true,
			asked:    true,
		},
		"NotOperator": {
			reason:   "It neither helps those who have, nor learns what that is.",
			repo:     "operator",
			creds:    "http://me:s3cr3t-p4ss@" + s.host(),
			operator: true,
			want:     "fatal: Authentication failed",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			home := t.TempDir()
			trace, asked := filepath.Join(home, "trace"), filepath.Join(home, "asked")

			if tc.operator {
				writeFiles(t, home, files{
					"helper":     "#!/bin/sh\necho $1 >>" + asked + "\ncat >>" + asked + "\ntest $1 != get || printf 'username=operator\\npassword=0p3r4t0r\\n'\n",
					".gitconfig": "[credential]\n\thelper = \"!sh " + home + "/helper\"\n",
				})
			}

			p := newPlace(t, "git::http://"+tc.login+s.host()+"/"+tc.repo)
			p.request.Env = environment(t, "HOME="+home, "GIT_TRACE="+trace)
			p.request.GitCredentials = []byte(tc.creds)

			if tc.want == "" {
				p.ensure(t)
				p.expect(t, files{"main.tf": tc.repo})
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) || strings.Contains(got, "s3cr3t") {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}

			// The trace has the arguments of every process that git starts.
			expectNoSecret(t, trace)
			expectNoSecret(t, p.dir.Path())

			if log, err := os.ReadFile(asked); tc.asked != (err == nil) {
				t.Errorf("%s\nhelper of the operator: want used %t, got:\n%s", tc.reason, tc.asked, log)
			}
		})
	}
}

// expectNoSecret fails if a secret of TestGitCredentials is in a file below path.
func expectNoSecret(t *testing.T, path string) {
	t.Helper()

	err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}

		data, err := os.ReadFile(name)
		for _, secret := range []string{"s3cr3t", "t0k3n-0123456789"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%q contains %q:\n%s", name, secret, data)
			}
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGitTenants fetches for many tenants at once, all from the same host. Each has a
// repository that nobody else may read, and all of them ask for the same one too.
func TestGitTenants(t *testing.T) {
	t.Parallel()

	const tenants = 20

	s := newGitServer(t)

	for i := range tenants {
		name := fmt.Sprintf("repo-%d", i)
		s.repo(t, name, files{"main.tf": name})
		s.users[name] = fmt.Sprintf("user-%d:password-%d", i, i)
	}

	fetcher := NewFetcher(nil, nil)

	var wg sync.WaitGroup

	for i := range tenants {
		own := newPlace(t, fmt.Sprintf("git::%s/repo-%d", s.url, i))
		foreign := newPlace(t, fmt.Sprintf("git::%s/repo-%d", s.url, (i+1)%tenants))
		own.fetcher, foreign.fetcher = fetcher, fetcher

		credentials := fmt.Appendf(nil, "http://user-%d:password-%d@%s\n", i, i, s.host())
		own.request.GitCredentials, foreign.request.GitCredentials = credentials, credentials

		wg.Go(func() {
			if _, err := own.fetcher.Ensure(t.Context(), own.request); err != nil {
				t.Errorf("tenant %d: %v", i, err)

				return
			}

			if diff := cmp.Diff(files{"main.tf": fmt.Sprintf("repo-%d", i)}, content(t, own.dir.Path())); diff != "" {
				t.Errorf("tenant %d: -want, +got:\n%s", i, diff)
			}
		})
		wg.Go(func() {
			if _, err := foreign.fetcher.Ensure(t.Context(), foreign.request); err == nil {
				t.Errorf("tenant %d read the repository of another", i)
			}
		})
	}

	wg.Wait()
}

func TestGitSubmodules(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "lib", files{"lib.tf": "lib"})
	r := s.repo(t, "repo", files{"main.tf": "m"})
	r.git(t, "submodule", "--quiet", "add", s.url+"/lib", "modules/lib")
	r.git(t, "commit", "-qm", "submodule")

	// Submodules are often relative to the repository, and as private.
	s.users["lib"], s.users["repo"] = "me:pass", "me:pass"

	for _, address := range []string{"git::" + s.url + "/repo", "git::" + s.url + "/repo//modules"} {
		p := newPlace(t, address)
		p.request.GitCredentials = []byte("http://me:pass@" + s.host())

		var want files
		if address == "git::"+s.url+"/repo" {
			want = files{"main.tf": "m", "modules/lib/lib.tf": "lib", ".gitmodules": content(t, r.dir)[".gitmodules"]}
		} else {
			p.request.Parameters.Entrypoint = "lib"
			want = files{"lib/lib.tf": "lib"}
		}

		p.ensure(t)
		p.expect(t, want)
	}
}

// TestForeignRepository ensures that a repository which the last module left in the
// working directory has no say in the next fetch.
func TestForeignRepository(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "repo", files{"main.tf": "m"})

	p := newPlace(t, "git::"+s.url+"/repo")
	writeFiles(t, p.dir.Path(), files{".git": "gitdir: /nowhere\n"})
	p.ensure(t)
	p.expect(t, files{"main.tf": "m"})
}

// A stuckServer accepts requests and does not answer.
type stuckServer struct {
	url string

	// arrived gets a value for every request, and gone one when its client is gone.
	arrived, gone chan struct{}
}

func newStuckServer(t *testing.T) *stuckServer {
	t.Helper()

	s := &stuckServer{arrived: make(chan struct{}, 10), gone: make(chan struct{}, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		<-r.Context().Done()
		s.gone <- struct{}{}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()

	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited too long: %s", what)
	}
}

// TestInterrupted ends the context of a fetch while git waits for a server.
func TestInterrupted(t *testing.T) {
	t.Parallel()

	s := newStuckServer(t)
	ok := newGitServer(t)
	ok.repo(t, "repo", files{"main.tf": "m"})

	for _, address := range []string{"git::" + s.url + "/repo", s.url + "/module.tar.gz"} {
		p := newPlace(t, "git::"+ok.url+"/repo")
		p.ensure(t)
		p.request.Parameters.Module = address

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		go func() {
			_, err := p.fetcher.Ensure(ctx, p.request)
			done <- err
		}()

		await(t, "the request of "+address, s.arrived)
		cancel()

		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Ensure(...): want %v, got %v", context.Canceled, err)
		}

		await(t, "git, or whatever made the request, ends", s.gone)
		p.expect(t, files{"main.tf": "m"})
	}
}

// TestParentDies kills the process that fetches, while git waits for a server.
func TestParentDies(t *testing.T) {
	t.Parallel()

	s := newStuckServer(t)

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	parent := exec.CommandContext(t.Context(), self)
	parent.Env = environment(t, parentAddress+"=git::"+s.url+"/repo", parentRoot+"="+t.TempDir())
	parent.Stdout, parent.Stderr = os.Stdout, os.Stderr
	parent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}

	await(t, "the request", s.arrived)
	_ = parent.Process.Kill()
	_ = parent.Wait()
	await(t, "git ends", s.gone)
}

// TestBrokenClone cuts the connection in the middle of a clone.
func TestBrokenClone(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1"})

	var broken atomic.Bool

	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if broken.Load() && isFetch(r, body) {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			_, _ = io.WriteString(w, "000dpackfile\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}

		out, err := http.NewRequestWithContext(r.Context(), r.Method, s.url+r.URL.String(), strings.NewReader(string(body)))
		if err != nil {
			return
		}

		out.Header = r.Header

		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			return
		}
		defer resp.Body.Close()

		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)

	p := newPlace(t, "git::"+proxy.URL+"/repo")
	p.ensure(t)
	r.commit(t, files{"main.tf": "2"})

	broken.Store(true)
	p.ensureFails(t)
	p.expect(t, files{"main.tf": "1"})

	// It counts as what it is, an old module, and is replaced as soon as possible.
	broken.Store(false)
	p.ensure(t)
	p.expect(t, files{"main.tf": "2"})
}
