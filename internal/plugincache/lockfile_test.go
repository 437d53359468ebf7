// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestLockFile ensures that a package is used only with the locked checksum, and that it is never
// written to.
func TestLockFile(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "a", "1.0.0", []byte("1.0.0"))

		module := require("a", "~> 1.0")
		first := f.place(t, module)
		first.mustInit(t)

		lock := first.read(t, lockName)

		// A new version is added, and the old one changes.
		f.add(t, "a", "1.1.0", []byte("1.1.0"))
		f.add(t, "a", "1.0.0", []byte("other"))

		locked := f.place(t, module)
		locked.write(t, lockName, lock)
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
		unknown.write(t, lockName, text)
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

		lock := p.read(t, lockName)

		locked := f.place(t, module)
		locked.write(t, lockName, lock)
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
