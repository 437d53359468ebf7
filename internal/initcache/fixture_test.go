// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

type files = filesystem.Files

// initialized returns a result of init.
func initialized() files {
	return files{
		".terraform.lock.hcl":                                 "lock",
		".terraform/terraform.tfstate":                        "backend",
		".terraform/modules/modules.json":                     "{}",
		".terraform/modules/a/main.tf":                        "a",
		".terraform/modules/a/link.tf":                        "-> main.tf",
		".terraform/providers/r/h/a/1.0.0/linux_amd64/a_v1.0": "program",
	}
}

// with returns the files and another one.
func with(f files, name, content string) files {
	f[name] = content

	return f
}

func newCache(t *testing.T) *Cache {
	t.Helper()

	return New(filepath.Join(t.TempDir(), "cache"), func(bool) {})
}

// store stores the result of an init under a key, and returns its directory.
func store(t *testing.T, c *Cache, key string, f files) string {
	t.Helper()

	dir := t.TempDir()
	filesystem.Write(t, dir, f)

	if err := c.Store(key, dir, dir); err != nil {
		t.Fatal(err)
	}

	return dir
}

// setAge makes an entry older.
func setAge(t *testing.T, c *Cache, key string, age time.Duration) {
	t.Helper()

	then := time.Now().Add(-age)
	if err := os.Chtimes(c.entries.Path(key), then, then); err != nil {
		t.Fatal(err)
	}
}

func expectEntries(t *testing.T, c *Cache, what string, want ...string) {
	t.Helper()

	if diff := cmp.Diff(want, filesystem.Names(t, c.entries.Dir), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", what, diff)
	}
}
