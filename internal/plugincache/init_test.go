// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestOrigin ensures that runs share a provider only if they would get it from the same place.
func TestOrigin(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))

		module := require("a", "1.0.0")
		f.place(t, module).mustInit(t)

		same := f.place(t, module)
		same.run.Env = append(same.run.Env, "TF_VAR_x=y", "AWS_PROFILE=z", "TF_CLI_ARGS_plan=-refresh=false", "TF_HTTP_ADDRESS=https://example.org/z", "TF_ENCRYPTION=# z")
		same.mustInit(t)

		f.expectDownloads(t, "with the same configuration of the CLI", "a", 1)

		for n, env := range [][]string{{"https_proxy="}, {"TF_TOKEN_example_org=t"}, {"XDG_DATA_HOME=/none"}, {"TF_CLI_ARGS_init=-backend=true"}} {
			other := f.place(t, module)
			other.run.Env = append(other.run.Env, env...)
			other.mustInit(t)

			f.expectDownloads(t, fmt.Sprintf("with %q", env), "a", n+2)
		}

		config := f.place(t, module)
		config.write(t, configName, config.read(t, configName)+"# of another tenant\n")
		config.mustInit(t)

		f.expectDownloads(t, "with another configuration of the CLI", "a", 6)

		// A package that is downloaded again is identical, and stored once.
		expectPackages(t, f.cache, "in the store", 1)
	})
}

// TestObserve ensures that each installed package counts as one that was in the plugin cache, or not.
func TestObserve(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))
		f.add(t, "b", "1.0.0", []byte("b"))

		for _, tc := range []struct {
			reason string
			module string
			want   []bool
		}{
			{reason: "The plugin cache is empty.", module: require("a", "1.0.0"), want: []bool{false}},
			{reason: "The first init has shared it.", module: require("a", "1.0.0"), want: []bool{true}},
			{reason: "Nothing has used this package.", module: require("b", "1.0.0"), want: []bool{false}},
			{reason: "Both are shared.", module: require("a", "1.0.0") + `provider "b" {}`, want: []bool{true, true}},
		} {
			var got []bool

			p := f.place(t, tc.module)
			p.run.Observe = func(hit bool) { got = append(got, hit) }
			p.mustInit(t)

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nhits: -want, +got:\n%s", tc.reason, diff)
			}
		}
	})
}

// TestBundled ensures that packages of a module are not shared with others.
func TestBundled(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))

		p := f.place(t, require("a", "1.0.0"))
		p.write(t, "terraform.d/x", "")
		p.mustInit(t)

		expectStored(t, f.cache, "of a module that may bring its own")
	})
}

// TestUnwritable ensures that a read-only plugin cache is not an error.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))
		write(t, filepath.Join(f.cache, storeDir), "not a directory")

		p := f.place(t, require("a", "1.0.0"))
		p.mustInit(t)

		if got := p.provider(t, "a", "1.0.0"); !strings.HasPrefix(got, p.run.Dir) {
			t.Errorf("package that cannot be shared: want it in %q, got %q", p.run.Dir, got)
		}

		// The second run uses the installed packages.
		p.mustInit(t)

		f.expectDownloads(t, "for two runs", "a", 1)
	})
}

// TestOtherDevice ensures that packages are shared where they have to be copied. They appear in
// the store as a whole, as everywhere else.
func TestOtherDevice(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.cache = filesystem.Other(t)
		f.add(t, "time", "0.14.2", timeProvider(t))

		for range 2 {
			p := f.place(t, `resource "time_static" "this" {}`)
			p.mustInit(t)

			if err := p.exec(t.Context(), p.run.Env, "validate", "-no-color"); err != nil {
				t.Error(err)
			}

			if got, want := filepath.Dir(p.provider(t, "time", "0.14.2")), filepath.Join(f.cache, storeDir, packagesDir); got != want {
				t.Errorf("directory of the package: want %q, got %q", want, got)
			}
		}

		if diff := cmp.Diff(map[string]int{"time_0.14.2.zip": 1}, f.downloaded()); diff != "" {
			t.Errorf("downloads: -want, +got:\n%s", diff)
		}

		expectPackages(t, f.cache, "in the store", 1)
	})
}

// TestWithout ensures that a directory that no longer uses the plugin cache does not write to
// shared files.
func TestWithout(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))

		p := f.place(t, require("a", "1.0.0"))
		p.mustInit(t)

		if got := p.provider(t, "a", "1.0.0"); !strings.HasPrefix(got, f.cache) {
			t.Errorf("package: want it in the plugin cache %q, got %q", f.cache, got)
		}

		p.run.Env = environ.Without(p.run.Env, Variable)
		p.mustInit(t)

		own := p.provider(t, "a", "1.0.0")
		if !strings.HasPrefix(own, p.run.Dir) {
			t.Errorf("package without a plugin cache: want it in %q, got %q", p.run.Dir, own)
		}

		// A directory may also share a program by a hard link.
		program := filepath.Join(own, "terraform-provider-a_v1.0.0")
		link := filepath.Join(t.TempDir(), "program")

		if err := os.Link(program, link); err != nil {
			t.Fatal(err)
		}

		p.mustInit(t)

		linked, err := os.Stat(link)
		if err != nil {
			t.Fatal(err)
		}

		if info, err := os.Stat(program); err != nil || os.SameFile(info, linked) {
			t.Errorf("program after another init: want a new file, got the shared one, %v", err)
		}
	})
}

// TestLockFile ensures that a package is used only with the locked checksum, and that it is never
// written to.
func TestLockFile(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("1.0.0"))

		module := require("a", "~> 1.0")
		first := f.place(t, module)
		first.mustInit(t)

		lock := first.read(t, terraform.LockFile)

		// A new version is added, and the old one changes.
		f.add(t, "a", "1.1.0", []byte("1.1.0"))
		f.add(t, "a", "1.0.0", []byte("other"))

		locked := f.place(t, module)
		locked.write(t, terraform.LockFile, lock)
		locked.mustInit(t)

		if got, want := locked.provider(t, "a", "1.0.0"), first.provider(t, "a", "1.0.0"); got != want {
			t.Errorf("package of a version that is locked: want that of the store, %q, got %q", want, got)
		}

		// An upgrade ignores locked versions.
		locked.mustInit(t, "-upgrade")
		locked.provider(t, "a", "1.1.0")

		// Without any checksum, the package cannot be verified.
		text := regexp.MustCompile(`(?s) *hashes = \[.*?\]\n`).ReplaceAllString(lock, "")
		unknown := f.place(t, module)
		unknown.write(t, terraform.LockFile, text)
		unknown.mustInit(t)

		if got, shared := unknown.provider(t, "a", "1.0.0"), first.provider(t, "a", "1.0.0"); got == shared {
			t.Errorf("package whose checksum is not locked: want a new one, got %q", got)
		}

		data, err := os.ReadFile(filepath.Join(first.provider(t, "a", "1.0.0"), "terraform-provider-a_v1.0.0"))
		if err != nil || string(data) != "1.0.0" {
			t.Errorf("program that was shared: want %q, got %q, %v", "1.0.0", data, err)
		}
	})
}

// TestForeign ensures that packages that another program put into the plugin cache are used only
// if their checksum is locked.
func TestForeign(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("a"))

		module := require("a", "1.0.0")

		// Without this package the CLI would fill the cache directly.
		p := f.place(t, module)
		if err := p.exec(t.Context(), p.run.Env, "init", "-no-color"); err != nil {
			t.Fatal(err)
		}

		lock := p.read(t, terraform.LockFile)

		locked := f.place(t, module)
		locked.write(t, terraform.LockFile, lock)
		locked.mustInit(t)

		if got, want := locked.provider(t, "a", "1.0.0"), p.provider(t, "a", "1.0.0"); got != want {
			t.Errorf("package whose checksum is locked: want %q, got %q", want, got)
		}

		chosen := f.place(t, module)
		chosen.run.Env = append(chosen.run.Env, mayBreakVariable+"=1")
		chosen.mustInit(t)

		f.expectDownloads(t, "where the package may be used", "a", 1)

		f.place(t, module).mustInit(t)

		f.expectDownloads(t, "where the package may be incomplete", "a", 2)
	})
}
