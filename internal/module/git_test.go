// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
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
	r.git(t, "tag", "v1.0.0+build.7", first)

	// This machine runs the commands that ssh would run on the other one.
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
		// history says that the repository has its complete history.
		history bool
	}{
		"NoRef":         {"Without a ref it is the default branch.", web, latest, true},
		"Branch":        {"A branch.", web + "?ref=stable", whole, true},
		"BranchSlash":   {"A branch with a slash in its name.", web + "?ref=feature/x", latest, true},
		"Tag":           {"A tag.", web + "?ref=v1.0.0", whole, true},
		"TagPlus":       {"A tag with a plus.", web + "?ref=v1.0.0%2Bbuild.7", whole, true},
		"FullRef":       {"The full name of a tag.", web + "?ref=refs/tags/v1.0.0", whole, true},
		"Commit":        {"A commit.", web + "?ref=" + first, whole, true},
		"ShortCommit":   {"The beginning of a commit's name.", web + "?ref=" + first[:10], whole, true},
		"Expression":    {"Another expression of git for a commit.", web + "?ref=main~1", whole, true},
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

			p := newPlace(t, tc.address)
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
				t.Errorf("%s\nthe second Ensure fetched the existing module", tc.reason)
			}
		})
	}

	t.Cleanup(func() {
		log, err := os.ReadFile(filepath.Join(bin, "log"))
		if err != nil {
			t.Error(err)
		}
		// The key is used for the clone, and for a check of the revision before, after and later.
		if got := strings.Count(string(log), "\nkey\n"); got != 4 {
			t.Errorf("ssh got the key %d times, want 4:\n%s", got, log)
		}
	})
}

func TestGitErrors(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "m", "out.tf": "-> /etc/passwd", "sub/main.tf": "s", "sub/up.tf": "-> ../main.tf", "dir/x.txt": "x"})
	r.git(t, "branch", "bad")
	r.git(t, "tag", "v1.0.0+build.7")
	r.commit(t, files{"main.tf": "m", "sub/main.tf": "s", "sub/up.tf": "-> ../main.tf", "dir/x.txt": "x", "dir/.x.tf": "x", "dir/x.tf~": "x"})
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
			want:    `cannot fetch module "` + web + `/repo?ref=none": the repository has no branch, tag or commit "none"`,
		},
		"DirectoryInRef": {
			reason:  "The directory comes before the ref.",
			address: web + "/repo?ref=main//sub",
			want:    `the repository has no branch, tag or commit "main//sub": write //DIRECTORY before the "?"`,
		},
		"HeadInRef": {
			reason:  "go-getter takes the name of a branch.",
			address: web + "/repo?ref=refs/heads/none",
			want:    `the repository has no branch, tag or commit "refs/heads/none": write it without refs/heads/`,
		},
		"PathAfterColon": {
			reason:  "The form of scp is no URL.",
			address: "git::ssh://git@example.org:org/repo.git//m?ref=v1.0.0",
			want:    `it is not a valid URL. What follows "HOST:" is the number of a port: write ssh://git@HOST/PATH, or git@HOST:PATH without ssh://`,
		},
		"NoUser": {
			reason:  "The form of scp needs the user, or the host is a scheme.",
			address: "github.com:org/repo.git",
			want:    "download not supported for scheme 'github.com'. For git, write git@HOST:PATH",
		},
		"SignInPassword": {
			reason:  "A sign of a password may end the host.",
			address: "git::https://ci:pa#ss@example.org/repo.git",
			want:    "it is not a valid URL. Write the signs # / ? @ : of a user or a password as %23 %2F %3F %40 %3A, and % as %25",
		},
		"OneSlash": {
			reason:  "A directory follows two.",
			address: web + "/none.git/sub",
			want:    "Write //DIRECTORY after .git",
		},
		"PlusInRef": {
			reason:  "In a query, a plus is a space.",
			address: web + "/repo?ref=v1.0.0+build.7",
			want:    `the repository has no branch, tag or commit "v1.0.0 build.7": write + as %2B`,
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
			want:    `directory "*" is ambiguous: there are .git, dir, sub`,
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
			reason:  "With only the files that are written beside the module, the CLI would destroy everything.",
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
			reason:  "An invalid address is reported.",
			address: "hashicorp/consul/aws",
			want:    `cannot fetch module "hashicorp/consul/aws": it is neither a URL nor an absolute path. For a git repository write git::https://HOST/PATH. To use a module of a registry, call it from an inline module`,
		},
		"Module": {
			reason:  "A module is not an address.",
			address: "locals {}",
			want:    "set spec.forProvider.source to Inline",
		},
		"ModuleWithAddress": {
			reason:  "It is not shown, because it may have secrets.",
			address: "module \"a\" {\n  source = \"git::https://example.org/a.git\"\n}",
			want:    "spec.forProvider.module looks like a module, and not like its address: set spec.forProvider.source to Inline",
		},
		"ModuleInJSON": {
			reason:  "Nor is one in JSON.",
			address: `{"module":{"a":{"source":"git::https://example.org/a.git"}}}`,
			want:    "spec.forProvider.module looks like a module",
		},
		"UnknownScheme": {
			reason:  "The message names an unknown scheme.",
			address: "oci://example.org/module?tag=1.2",
			want:    `"oci://example.org/module?tag=1.2": download not supported for scheme 'oci'. To use a module of a registry, call it from an inline module`,
		},
		"Nothing": {
			reason:  "No address is none.",
			address: " ",
			want:    "spec.forProvider.module is empty",
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

// TestRepositoryArchives fetches archives that are files of a repository.
func TestRepositoryArchives(t *testing.T) {
	t.Parallel()

	module := files{"main.tf": "m", "link.tf": "-> main.tf"}
	outside := filepath.Join(t.TempDir(), "outside.zip")
	filesystem.Write(t, filepath.Dir(outside), files{"outside.zip": string(zipped(t, module))})

	s := newGitServer(t)
	r := s.repo(t, "repo", files{
		"m.zip": string(zipped(t, module)), "inside.zip": "-> m.zip", "out.zip": "-> " + outside, "up.zip": "-> ../outside.zip", "endless": "-> /dev/zero",
	})
	filesystem.Write(t, s.root, files{"outside.zip": string(zipped(t, module))})

	bin := mercurial(t)

	cases := map[string]struct {
		reason string
		// path is the one in the repository, with parameters.
		path string
		want files
		err  string
	}{
		"File":    {reason: "An archive is unpacked.", path: "m.zip", want: module},
		"Named":   {reason: "A parameter may name its format.", path: "m.zip?archive=zip", want: module},
		"Link":    {reason: "A link inside of the repository is followed.", path: "inside.zip", want: module},
		"Out":     {reason: "A link may not lead to a file of this machine.", path: "out.zip", want: files{}, err: "path escapes from parent"},
		"Up":      {reason: "Nor may a relative link.", path: "up.zip", want: files{}, err: "path escapes from parent"},
		"Endless": {reason: "Nor may a link lead to a device.", path: "endless?archive=tar", want: files{}, err: "path escapes from parent"},
		"Missing": {reason: "The archive must exist.", path: "none.zip", want: files{}, err: "no such file"},
	}

	for name, tc := range cases {
		for prefix, repository := range map[string]string{"git": s.url + "/repo", "hg": "file://" + r.dir} {
			t.Run(name+"/"+prefix, func(t *testing.T) {
				t.Parallel()

				p := newPlace(t, prefix+"::"+repository+"/"+tc.path)
				p.request.Env = environment(t, "PATH="+bin+":"+os.Getenv("PATH"))

				if tc.err == "" {
					p.ensure(t)
				} else if got := p.ensureFails(t); !strings.Contains(got, tc.err) {
					t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.err, got)
				}

				p.expect(t, tc.want)
			})
		}
	}
}

// TestGitPolicy counts the requests to a server.
func TestGitPolicy(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})
	commit := r.git(t, "rev-parse", "HEAD")

	always := newPlace(t, "git::"+s.url+"/repo?ref=main")
	pinned := newPlace(t, "git::"+s.url+"/repo?ref="+commit)
	once := newPlace(t, "git::"+s.url+"/repo?ref=main")
	once.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent

	expect := func(p *place, what string, wantCheck, wantClone bool) {
		t.Helper()
		p.ensure(t)

		requests, clones := s.counts()
		if (requests > 0) != wantCheck || (clones > 0) != wantClone {
			t.Errorf("%s: want check %t and download %t, got %d requests, %d downloads", what, wantCheck, wantClone, requests, clones)
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
	expect(pinned, "a commit, with newer ones", false, false)
	expect(once, "IfNotPresent, something new", false, false)
	once.expect(t, files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})

	// A change on another branch does not matter.
	r.git(t, "branch", "other")
	expect(always, "Always, another branch", true, false)

	// An expression stands for another commit when its branch moves.
	before := newPlace(t, "git::"+s.url+"/repo?ref=main~1")
	expect(before, "an expression, first", true, true)
	before.expect(t, files{"main.tf": "1", "old.tf": "old", "sub/old.tf": "old"})
	r.commit(t, files{"main.tf": "3"})
	expect(before, "an expression, something new", true, true)
	before.expect(t, files{"main.tf": "2"})
	expect(before, "an expression, nothing new", true, false)

	// An incomplete module does not count, regardless of the policy.
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

func TestGitSubmodules(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "lib", files{"lib.tf": "lib"})
	r := s.repo(t, "repo", files{"main.tf": "m"})
	r.git(t, "submodule", "--quiet", "add", s.url+"/lib", "modules/lib")
	r.git(t, "commit", "-qm", "submodule")

	// Submodules often have relative addresses and are private, too.
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

// TestForeignRepository ensures that a repository that the last module left in the working
// directory does not affect the next fetch.
func TestForeignRepository(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "repo", files{"main.tf": "m"})

	p := newPlace(t, "git::"+s.url+"/repo")
	filesystem.Write(t, p.dir.Path(), files{".git": "gitdir: /nowhere\n"})
	p.ensure(t)
	p.expect(t, files{"main.tf": "m"})
}

// TestWithoutGit has a PATH of the provider that does not lead to git.
func TestWithoutGit(t *testing.T) {
	t.Parallel()

	p := newPlace(t, "git::https://example.org/m")
	p.request.Env = environment(t, "PATH=$PATH:/opt/aws/bin")

	if got := p.ensureFails(t); !strings.Contains(got, "it is not in PATH of the provider") {
		t.Errorf("Ensure(...): want an error that names the variable, got %q", got)
	}
}
