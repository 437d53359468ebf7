// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

func TestPaths(t *testing.T) {
	t.Parallel()

	src := filepath.Join(t.TempDir(), "modules v1")
	filesystem.Write(t, src, files{"main.tf": "1", "old.tf": "1", "sub/main.tf": "s", "sub/link.tf": "-> main.tf"})

	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(src, alias); err != nil {
		t.Fatal(err)
	}

	latin := filepath.Join(t.TempDir(), "latin")
	filesystem.Write(t, latin, files{"main.tf": "1", "caf\xe9.tf": "1"})

	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	whole := files{"main.tf": "1", "old.tf": "1", "sub/main.tf": "s", "sub/link.tf": "-> main.tf"}

	cases := map[string]struct {
		reason  string
		address string
		want    files
		// err is a part of the message.
		err string
	}{
		"Path":      {reason: "A path is copied.", address: src, want: whole},
		"URL":       {reason: "The URL of a path is copied, too.", address: "file://" + src, want: whole},
		"Block":     {reason: "A block of YAML ends with a new line.", address: src + "\n", want: whole},
		"Link":      {reason: "A link is followed.", address: alias, want: whole},
		"Directory": {reason: "A single directory of it is copied.", address: src + "//sub", want: files{"main.tf": "s", "link.tf": "-> main.tf"}},
		"Missing":   {reason: "The path must exist.", address: "/none/at/all", err: "no such file or directory"},
		"NotThere":  {reason: "The directory must exist.", address: src + "//none", err: `there is no directory "none"`},
		"NoModule":  {reason: "The path must be a directory.", address: src + "/main.tf", err: "not a directory"},
		"Pipe":      {reason: "A pipe is not a directory.", address: pipe, err: "not a directory"},
		"Archive":   {reason: "A pipe is not an archive.", address: pipe + "?archive=tar.gz", err: "it is a pipe"},
		"Endless":   {reason: "An archive must end.", address: "file:///dev/zero?archive=zip", err: "it is a device"},
		"Kernel":    {reason: "Files of the kernel are not a module.", address: "/proc/sys/kernel/random", err: "the kernel makes it up"},
		"NotUTF8":   {reason: "Without a file, the CLI would destroy what it declares.", address: latin, err: `the name of the file "caf\xe9.tf" is not UTF-8`},
		"Relative":  {reason: "The path must be absolute.", address: "./module", err: "it is neither a URL nor an absolute path"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)

			if err := wait.Within(wait.Soon, func() {
				if tc.err == "" {
					p.ensure(t)
					p.expect(t, tc.want)
				} else if got := p.ensureFails(t); !strings.Contains(got, tc.err) {
					t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.err, got)
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPathPolicy ensures that a change of a directory is detected, and that the directory is
// copied, not linked.
func TestPathPolicy(t *testing.T) {
	t.Parallel()

	src := t.TempDir()
	filesystem.Write(t, src, files{"main.tf": "1", "old.tf": "1"})

	always, once := newPlace(t, src), newPlace(t, src)
	once.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent

	always.ensure(t)
	once.ensure(t)
	filesystem.Write(t, src, files{"main.tf": "2"})

	if err := os.Remove(filepath.Join(src, "old.tf")); err != nil {
		t.Fatal(err)
	}

	always.expect(t, files{"main.tf": "1", "old.tf": "1"})
	always.ensure(t)
	once.ensure(t)
	always.expect(t, files{"main.tf": "2"})
	once.expect(t, files{"main.tf": "1", "old.tf": "1"})
}

// TestUnchangedPath ensures that a directory without changes restores all files but the lock file, which a run has
// completed.
func TestUnchangedPath(t *testing.T) {
	t.Parallel()

	src := t.TempDir()
	filesystem.Write(t, src, files{"main.tf": "1", ".terraform.lock.hcl": "incomplete", "run.sh": "#!/bin/sh"})

	p := newPlace(t, src)
	p.ensure(t)

	completed := files{"main.tf": "1", ".terraform.lock.hcl": "complete", "run.sh": "#!/bin/sh"}

	filesystem.Write(t, p.dir.Path(), files{".terraform.lock.hcl": "complete", "run.sh": "changed by a run"})
	p.ensure(t)
	p.expect(t, completed)

	// Each of these is a change, also where no file has another content.
	for name, change := range map[string]func() error{
		"mode": func() error { return os.Chmod(filepath.Join(src, "run.sh"), 0o700) },
		"name": func() error { return os.Rename(filepath.Join(src, "main.tf"), filepath.Join(src, "other.tf")) },
	} {
		filesystem.Write(t, p.dir.Path(), files{".terraform.lock.hcl": "complete"})

		if err := change(); err != nil {
			t.Fatal(err)
		}

		p.ensure(t)

		if lock, err := os.ReadFile(filepath.Join(p.dir.Path(), ".terraform.lock.hcl")); err != nil || string(lock) != "incomplete" {
			t.Errorf("after a change of a %s: want the lock file of the module, got %q, %v", name, lock, err)
		}
	}
}

// TestPathPrivate ensures that a directory is not copied into itself, and that no tenant gets
// files of another one by any path.
func TestPathPrivate(t *testing.T) {
	t.Parallel()

	p := newPlace(t, "")
	other := filepath.Join(filepath.Dir(p.dir.Path()), "11111111-2222-3333-4444-555555555555")
	filesystem.Write(t, p.dir.Path(), files{"main.tf": "m"})
	filesystem.Write(t, other, files{"main.tf": "m", "module.zip": "m", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/keep": "", ".git/refs/keep": ""})

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}

	const private = "it is below the directory of the working directories, XP_TF_DIR"

	for path, want := range map[string]string{
		"/":                         "the working directory of the Workspace is inside of it",
		filepath.Dir(p.dir.Path()):  private,
		p.dir.Path():                private,
		other:                       private,
		"file://" + other:           private,
		filepath.Dir(other) + "//*": private,
		link:                        private,
		filepath.Dir(link) + "/../" + filepath.Base(filepath.Dir(link)) + "/link": private,
		other + "/module.zip":           private,
		"git::" + other:                 private,
		"git::file://" + other:          private,
		"git::file://" + link + "//sub": private,
		"hg::" + other:                  private,
	} {
		p.request.Parameters.Module = path

		_, err := p.fetcher.Ensure(t.Context(), p.request)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Ensure(...) of %q: want error %q, got %v", path, want, err)
		}
	}
}
