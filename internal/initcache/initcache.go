// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package initcache keeps what init left in one directory for others in which it
// would leave the same, so that it need not run there.
package initcache

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// dataDir is where init leaves what it installed, and lockName what it chose.
	dataDir  = ".terraform"
	lockName = ".terraform.lock.hcl"

	// tempPrefix is what the names begin with of what is not an entry yet, or no
	// longer.
	tempPrefix = ".tmp-"

	// maxAge bounds how old the modules and providers of a new Workspace may be that
	// it does not name by an exact version: for that long they are those that were
	// the newest when the entry was made. It also bounds how long the configuration
	// of a backend, which may have secrets, outlives the Workspaces that have it.
	maxAge = time.Hour

	// maxEntries and maxBytes bound the size of a cache.
	maxEntries = 256
	maxBytes   = 4 << 30

	// evictInterval is how often entries are looked for that are too old.
	evictInterval = 10 * time.Minute
)

// A Cache is a directory of entries, each under a key. Any number of processes may
// use it: an entry appears, and disappears, as a whole, and never changes.
type Cache struct {
	dir        string
	maxEntries int
	maxBytes   int64
	now        func() time.Time
}

// New returns the Cache in a directory, which is made when it is needed. It should
// be in the file system of the directories that init runs in.
func New(dir string) *Cache {
	return &Cache{dir: dir, maxEntries: maxEntries, maxBytes: maxBytes, now: time.Now}
}

// Fresh says whether init never ran in a directory. Only there the result of init
// does not depend on an earlier one: a backend that the state has to be moved from,
// or modules that are there already.
func Fresh(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, dataDir))

	return errors.Is(err, fs.ErrNotExist)
}

// Restore makes a directory what init would make of it. It returns false if that is
// not possible; the directory is as before then.
func (c *Cache) Restore(key, dir string) bool {
	// As long as it is open, nothing else is taken for it.
	entry, err := os.Open(c.path(key))
	if err != nil {
		return false
	}
	defer entry.Close() //nolint:errcheck // It is only read from.

	info, err := entry.Stat()
	if err != nil || c.expired(info) || !Fresh(dir) {
		return false
	}

	if err := restore(entry.Name(), info, dir); err != nil {
		_ = os.RemoveAll(filepath.Join(dir, dataDir))

		return false
	}

	return true
}

// restore an entry that has the supplied info, and had it all the time: otherwise
// somebody has removed it, and what was found is not all of it.
func restore(entry string, info fs.FileInfo, dir string) error {
	if err := copyTree(filepath.Join(entry, dataDir), filepath.Join(dir, dataDir), checkTarget); err != nil {
		return err
	}

	// By rename, because a module may have a link there.
	temp := filepath.Join(dir, dataDir, lockName)

	err := copyFile(filepath.Join(entry, lockName), temp)
	locked := err == nil

	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if now, err := os.Lstat(entry); err != nil || !os.SameFile(info, now) {
		return errors.New("the entry was removed")
	}

	if !locked {
		return nil // There are no providers.
	}

	return os.Rename(temp, filepath.Join(dir, lockName))
}

// checkTarget refuses to copy links to what is gone.
func checkTarget(path, _ string) error {
	_, err := os.Stat(path)

	return err
}

// Store keeps what init left in a directory that was fresh before. The key stands
// for everything that the result of init depends on, secrets included. Root is the
// directory, that one or above, which will be gone some day: what has a link into it
// is not kept.
//
// An entry that is there already stays as it is.
func (c *Cache) Store(key, root, dir string) error {
	if err := c.Evict(); err != nil {
		return err
	}

	temp := filepath.Join(c.dir, tempPrefix+rand.Text())
	defer os.RemoveAll(temp) //nolint:errcheck // It is evicted later.

	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}

	if err := copyTree(filepath.Join(dir, dataDir), filepath.Join(temp, dataDir), checkLasting(root, dir)); err != nil {
		return err
	}

	err := copyFile(filepath.Join(dir, lockName), filepath.Join(temp, lockName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if err := syncFilesystem(temp); err != nil {
		return err
	}

	// The age of an entry is that of its directory.
	now := c.now()
	if err := os.Chtimes(temp, now, now); err != nil {
		return err
	}

	if err := os.Rename(temp, c.path(key)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}

	return c.Evict()
}

// checkLasting refuses links into root, and relative links out of what is copied.
func checkLasting(root, dir string) func(path, target string) error {
	return func(path, target string) error {
		base := filepath.Join(dir, dataDir)
		if filepath.IsAbs(target) {
			base = root
		}

		abs := target
		if !filepath.IsAbs(target) {
			abs = filepath.Join(filepath.Dir(path), target)
		}

		rel, err := filepath.Rel(base, abs)
		inside := err == nil && filepath.IsLocal(rel)

		if inside == filepath.IsAbs(target) {
			return errors.Errorf("cannot keep link %q to %q", path, target)
		}

		return nil
	}
}

// Forget removes an entry.
func (c *Cache) Forget(key string) error { return c.remove(filepath.Base(c.path(key))) }

// Evict removes the entries that are too old, and then the oldest ones as long as
// there are too many.
func (c *Cache) Evict() error {
	entries, err := c.entries()
	if err != nil {
		return err
	}

	var bytes int64

	kept := 0

	for _, e := range entries {
		bytes += e.bytes
		kept++

		if !c.expired(e.info) && kept <= c.maxEntries && bytes <= c.maxBytes {
			continue
		}

		bytes -= e.bytes
		kept--

		if err := c.remove(e.info.Name()); err != nil {
			return err
		}
	}

	return nil
}

// Start evicts entries, now and from time to time, until ctx is done.
func (c *Cache) Start(ctx context.Context) error {
	t := time.NewTicker(evictInterval)
	defer t.Stop()

	for {
		// What cannot be removed now may be the next time. It is not used anyway.
		_ = c.Evict()

		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// An entry, or what is to become or was one.
type entry struct {
	info  fs.FileInfo
	bytes int64
}

// entries returns what there is, newest first. What is not an entry yet or no longer
// has no size, because somebody may be working on it.
func (c *Cache) entries() ([]entry, error) {
	found, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	all := make([]entry, 0, len(found))

	for _, f := range found {
		info, err := f.Info()
		if err != nil {
			continue // Somebody else has removed it.
		}

		e := entry{info: info}
		if !strings.HasPrefix(info.Name(), tempPrefix) {
			e.bytes = size(filepath.Join(c.dir, info.Name()))
		}

		all = append(all, e)
	}

	slices.SortFunc(all, func(a, b entry) int { return b.info.ModTime().Compare(a.info.ModTime()) })

	return all, nil
}

// remove an entry: first its name, so that nobody finds half of it.
func (c *Cache) remove(name string) error {
	temp := filepath.Join(c.dir, tempPrefix+rand.Text())

	err := os.Rename(filepath.Join(c.dir, name), temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	return os.RemoveAll(temp)
}

func (c *Cache) expired(info fs.FileInfo) bool { return c.now().Sub(info.ModTime()) > maxAge }

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key) }
