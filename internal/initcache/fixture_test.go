// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
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

// newCache returns a cache and its clock.
func newCache(t *testing.T) (*Cache, *time.Time) {
	t.Helper()

	now := time.Now()
	c := New(filepath.Join(t.TempDir(), "cache"), func(bool) {})
	c.entries.Now = func() time.Time { return now }

	return c, &now
}

// store files of a new directory, which it returns.
func store(t *testing.T, c *Cache, key string, f files) string {
	t.Helper()

	dir := t.TempDir()
	filesystem.Write(t, dir, f)

	if err := c.Store(key, dir, dir); err != nil {
		t.Fatal(err)
	}

	return dir
}

func expectEntries(t *testing.T, c *Cache, what string, want ...string) {
	t.Helper()

	if diff := cmp.Diff(want, filesystem.Names(t, c.entries.Dir), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", what, diff)
	}
}
