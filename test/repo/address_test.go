// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Addresses of the project, as hack/address.txt has them.
type addresses struct{ Package, Source string }

// A place has an address between the parentheses of a pattern. It is on one or more lines of each
// file that glob names.
type place struct{ glob, pattern string }

func packagePlaces() []place {
	return []place{
		{"README.md", "([^\\s`]+):v0\\.1\\.0"},
		{"cluster/deploy/package/provider.yaml", `package: (.+):v`},
		{"docs/install.md", "([^\\s`]+/[^\\s`]+):v0\\.1\\.0"},
		{"examples/deploy/README.md", `xpkg install provider (\S+):v`},
		{"examples/deploy/*-package/kustomization.yaml", `value: (\S+/\S+):v`},
		{"examples/deploy/elastic/kustomization.yaml", `newName: (.+)`},
		{"examples/deploy/single/kustomization.yaml", `newName: (.+)`},
		{"examples/deploy/static*/kustomization.yaml", `newName: (.+)`},
		{"test/e2e/e2e_test.go", `"package": "(.+):v`},
		{"test/e2e/objects.go", `placeholder += "(.+)"`},
		{"test/e2e/story/deploy.go", `placeholder += "(.+)"`},
	}
}

func sourcePlaces() []place {
	return []place{
		{".github/ISSUE_TEMPLATE/bug.yml", `\((https://.+)/blob/main/`},
		{".github/ISSUE_TEMPLATE/config.yml", `url: (.+)/blob/main/`},
		{"README.md", `git clone (\S+)`},
		{"cluster/images/provider-terraform/Dockerfile", `image\.source="(.+)"`},
		{"cluster/monitoring/dashboard.json", `"url": "(https://.+)/blob/main/docs/`},
		{"cluster/monitoring/prometheusrule.yaml", `runbook_url: (.+)/blob/main/docs/`},
		{"examples/deploy/README.md", "`(https://.+)//cluster/deploy/"},
		{"package/crossplane.yaml", `meta\.crossplane\.io/source: (.+)`},
	}
}

func readAddresses(t *testing.T, dir string) addresses {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(dir, "hack", "address.txt"))
	if err != nil {
		t.Fatal(err)
	}

	lines := strings.Split(string(data), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("hack/address.txt: want two lines, got %q", data)
	}

	return addresses{Package: lines[0], Source: lines[1]}
}

// check reports where a place is missing or has another address.
func (p place) check(t *testing.T, dir, want string) {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(dir, p.glob))
	if err != nil || len(files) == 0 {
		t.Errorf("%s: there is no such file: %v", p.glob, err)
	}

	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		found := regexp.MustCompile(p.pattern).FindAllStringSubmatch(string(data), -1)
		if len(found) == 0 {
			t.Errorf("%s: nothing matches %s", file, p.pattern)
		}

		for _, groups := range found {
			if groups[1] != want {
				t.Errorf("%s: want %s in %q: run `make address`, which writes what hack/address.txt has to all places", file, want, groups[0])
			}
		}
	}
}

func (a addresses) check(t *testing.T, dir string) {
	t.Helper()

	for _, p := range packagePlaces() {
		p.check(t, dir, a.Package)
	}

	for _, p := range sourcePlaces() {
		p.check(t, dir, a.Source)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()

	readAddresses(t, root).check(t, root)
}

// TestWriteAddress writes other addresses in a copy of all places.
func TestWriteAddress(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	modules := "module github.com/crossplane-contrib/provider-terraform\n"

	copyTo(t, dir, "hack/address.txt", "hack/address.sh")

	for _, p := range slices.Concat(packagePlaces(), sourcePlaces()) {
		copyTo(t, dir, p.glob)
	}

	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(modules), 0o600); err != nil {
		t.Fatal(err)
	}

	address := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "hack", "address.sh"), args...).CombinedOutput()

		return string(out), err
	}

	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}

	for _, args := range [][]string{{"ghcr.io/acme/p"}, {"ghcr.io/acme/p:v1", "https://git.example.org/acme/p"}, {"ghcr.io/acme/p", "https://git.example.org/acme/p/"}, {"ghcr.io/a#b/p", "git.example.org/p"}} {
		if out, err := address(args...); err == nil {
			t.Errorf("address.sh %q: want an error, got %q", args, out)
		}
	}

	want := addresses{Package: "ghcr.io:443/acme/p", Source: "https://git.example.org/acme/p"}

	if out, err := address(want.Package, want.Source); err != nil || out != "" {
		t.Fatalf("address.sh: %v: %s", err, out)
	}

	if diff := cmp.Diff(want, readAddresses(t, dir)); diff != "" {
		t.Errorf("hack/address.txt: -want, +got:\n%s", diff)
	}

	want.check(t, dir)

	if out, err := address(); err != nil || out != want.Package+"\n"+want.Source+"\n" {
		t.Errorf("address.sh: got %q, %v", out, err)
	}

	if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(data) != modules {
		t.Errorf("want the path of a module as it was, got %q, %v", data, err)
	}
}

// copyTo copies the files that the patterns name from the repository.
func copyTo(t *testing.T, dir string, globs ...string) {
	t.Helper()

	for _, glob := range globs {
		files, err := filepath.Glob(filepath.Join(root, glob))
		if err != nil {
			t.Fatal(err)
		}

		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}

			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}

			to := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(to, data, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
}
