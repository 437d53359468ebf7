// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDamaged damages a package in the store, as a crash of the machine may. Each init downloads the package again: one in a directory
// whose lock file has the checksum of the package, and one in a new directory, which would record that of the damaged one.
func TestDamaged(t *testing.T) {
	t.Parallel()

	damages := map[string]func(name string) error{
		"Deleted": os.Remove,
		"Emptied": func(name string) error { return os.Truncate(name, 0) },
		"Cut":     func(name string) error { return os.Truncate(name, 3) },
	}

	eachCLI(t, func(t *testing.T, f *fixture) {
		t.Helper()

		for name, damage := range damages {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				f := &fixture{mirror: newMirror(t), cli: f.cli, cache: t.TempDir()}
				f.add(t, "a", "1.0.0", []byte("program"))

				first, second := f.place(t, require("a", "1.0.0")), f.place(t, require("a", "1.0.0"))
				first.mustInit(t)

				lock := first.read(t, ".terraform.lock.hcl")
				path := filepath.Join(first.provider(t, "a", "1.0.0"), "terraform-provider-a_v1.0.0")

				for _, p := range []*place{second, first} {
					if err := damage(path); err != nil {
						t.Fatal(err)
					}

					p.mustInit(t)

					if got := p.read(t, ".terraform.lock.hcl"); got != lock {
						t.Errorf("lock file: want\n%s\ngot\n%s", lock, got)
					}

					if data, err := os.ReadFile(path); err != nil || string(data) != "program" {
						t.Errorf("program in the plugin cache: %q, %v", data, err)
					}
				}
			})
		}
	})
}

// TestDiscard discards a package whose program does not run, and nothing else.
func TestDiscard(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		t.Helper()
		f.add(t, "a", "1.0.0", []byte("<html>"))

		p := f.place(t, require("a", "1.0.0"))
		p.mustInit(t)

		fails := func(provider string) error {
			return fmt.Errorf("failed to instantiate provider %q to obtain schema: exec format error", provider)
		}

		Discard(p.run, fails(f.cli.registry+"/hashicorp/ab"))
		Discard(p.run, fails("other.example.org/hashicorp/a"))
		expectPackages(t, f.cache, "after errors of other providers", 1)

		elsewhere := filepath.Join(t.TempDir(), storeDir, packagesDir, "a")
		link := filepath.Join(p.run.Dir, providersDir, "example.org", "hashicorp", "a", "1.0.0", "linux_amd64")

		if err := errors.Join(os.MkdirAll(elsewhere, 0o700), os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(elsewhere, link)); err != nil {
			t.Fatal(err)
		}

		Discard(p.run, fails("example.org/hashicorp/a"))

		if _, err := os.Stat(elsewhere); err != nil {
			t.Errorf("directory outside of the plugin cache: %v", err)
		}

		Discard(p.run, fails(f.cli.registry+"/hashicorp/a"))
		expectPackages(t, f.cache, "after an error of the provider", 0)
	})
}
