// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestNew ensures that a cache has limits.
func TestNew(t *testing.T) {
	t.Parallel()

	c := New(t.TempDir(), func(bool) {}).entries
	if c.MaxAge <= 0 || c.MaxEntries <= 0 || c.MaxBytes <= 0 {
		t.Errorf("New(...): want bounds, got an age of %s, %d entries and %d bytes", c.MaxAge, c.MaxEntries, c.MaxBytes)
	}
}

func TestEvict(t *testing.T) {
	t.Parallel()

	c, now := newCache(t)
	c.entries.MaxEntries = 2

	for _, key := range []string{"a", "b", "c"} {
		store(t, c, key, initialized())

		*now = now.Add(time.Minute)
	}

	expectEntries(t, c, "entries when there may be 2", "b", "c")

	c.entries.MaxBytes = dircache.Size(c.entries.Path("c"))
	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	expectEntries(t, c, "entries when there may be as many bytes as one has", "c")

	// A killed process left these files.
	filesystem.Write(t, c.entries.Dir, files{dircache.TempPrefix + "x/main.tf": "half"})

	if err := os.Chtimes(filepath.Join(c.entries.Dir, dircache.TempPrefix+"x"), *now, *now); err != nil {
		t.Fatal(err)
	}

	*now = now.Add(maxAge - time.Second)

	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	expectEntries(t, c, "entries when all are too old, except one in progress", dircache.TempPrefix+"x")

	*now = now.Add(2 * time.Second)

	if err := c.entries.Evict(); err != nil {
		t.Fatal(err)
	}

	expectEntries(t, c, "entries when all are too old")
}

// TestStart ensures that secrets of a dead instance are removed in time.
func TestStart(t *testing.T) {
	t.Parallel()

	c, now := newCache(t)
	store(t, c, "key", initialized())

	*now = now.Add(2 * maxAge)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}

	expectEntries(t, c, "entries after a start")
}
