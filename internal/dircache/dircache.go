// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package dircache keeps directories on disk under keys, for callers that need the same directory.
package dircache

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
)

const (
	// tempPrefix begins the name of a directory with an entry that is being filled, and of one that is no
	// entry any more.
	tempPrefix = ".tmp-"

	// entryName is the name of an entry that is being filled, in its directory.
	entryName = "entry"
)

// errGone says that an entry was removed during its use: the caller may have seen only a part of
// it.
var errGone = errors.New("the entry was removed")

// A Cache is a directory of entries, each a directory named after its key. Any number of processes
// may use it: an entry appears and disappears as a whole. Its age is that of its modification time.
type Cache struct {
	// Dir is created when needed.
	Dir string

	// MaxAge is the maximum age of an entry, since it was added or last touched.
	MaxAge time.Duration

	// MaxEntries and MaxBytes limit the size of the cache. Zero means no limit. With MaxBytes, the cache
	// also has at most a quarter of its file system. No limit evicts an entry younger than MinAge.
	MaxEntries int
	MaxBytes   int64
	MinAge     time.Duration
}

// Path returns the path of the entry under a key, which need not exist.
func (c *Cache) Path(key string) string { return filepath.Join(c.Dir, key) }

// Use calls fn with the path of an entry that is not older than MaxAge. The error is fs.ErrNotExist
// if there is none. It fails, too, if the entry was removed during the use.
func (c *Cache) Use(key string, fn func(dir string) error) error {
	// While it is open, its inode is not reused.
	entry, err := os.Open(c.Path(key))
	if err != nil {
		return err
	}
	defer entry.Close() //nolint:errcheck // It is only read from.

	info, err := entry.Stat()
	if err != nil {
		return err
	}

	if age(info) > c.MaxAge {
		return fs.ErrNotExist
	}

	err = fn(entry.Name())

	if !isAt(entry) {
		return errGone
	}

	return err
}

// isAt says whether an open directory is still at its path.
func isAt(dir *os.File) bool {
	was, err := dir.Stat()
	if err != nil {
		return false
	}

	now, err := os.Lstat(dir.Name())

	return err == nil && os.SameFile(was, now)
}

// Put adds an entry to the cache: fill writes it to an empty directory, or replaces that directory. An
// existing entry does not change, unless it is too old. Put evicts nothing else. It fails,
// and adds nothing, if the directory is removed meanwhile: fill may have made it again, with a part of the
// entry.
func (c *Cache) Put(key string, fill func(dir string) error) error {
	temp := c.temp()
	defer os.RemoveAll(temp) //nolint:errcheck // It is evicted later.

	entry := filepath.Join(temp, entryName)
	if err := os.MkdirAll(entry, 0o700); err != nil {
		return err
	}

	// While it is open, its inode is not reused.
	parent, err := os.Open(temp) //nolint:gosec // It was made here.
	if err != nil {
		return err
	}
	defer parent.Close() //nolint:errcheck // It is only read from.

	if err := fill(entry); err != nil {
		return err
	}

	if err := syncFilesystem(entry); err != nil {
		return err
	}

	// A file server may have another clock.
	now := time.Now()
	if err := os.Chtimes(entry, now, now); err != nil {
		return err
	}

	// Use refuses an entry that is too old, and it would be evicted soon.
	if info, err := os.Lstat(c.Path(key)); err == nil && age(info) > c.MaxAge {
		if err := c.Remove(key); err != nil {
			return err
		}
	}

	if !isAt(parent) {
		return errGone
	}

	err = os.Rename(entry, c.Path(key))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}

	return err
}

// Add is Put, and then Evict: also after a failure, because the disk may be full.
func (c *Cache) Add(key string, fill func(dir string) error) error {
	return errors.Join(c.Put(key, fill), c.Evict())
}

// Touch makes an entry as young as a new one.
func (c *Cache) Touch(key string) error {
	now := time.Now()

	return os.Chtimes(c.Path(key), now, now)
}

// Remove removes an entry, if there is one. It removes the name first, so that no reader finds a
// part of it.
func (c *Cache) Remove(key string) error {
	temp := c.temp()

	err := os.Rename(c.Path(key), temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	return os.RemoveAll(temp)
}

// Evict removes the entries that are too old, and then the oldest ones until the limits are kept.
func (c *Cache) Evict() error { return c.evict(filesystemSize(c.Dir)) }

func (c *Cache) evict(filesystemSize int64) error {
	entries, err := c.entries()
	if err != nil {
		return err
	}

	var (
		kept  int
		bytes int64
	)

	// Several caches, and the working directories, share a file system, which may be smaller than the
	// limits of the caches.
	maxBytes := c.MaxBytes
	if quarter := filesystemSize / 4; quarter > 0 {
		maxBytes = min(maxBytes, quarter)
	}

	for _, e := range entries {
		// Another process may be filling a temporary directory: the limits do not apply to it.
		limited := !strings.HasPrefix(e.Name(), tempPrefix)
		size, tooMany := int64(0), false

		if limited {
			size = Size(c.Path(e.Name()))
			tooMany = c.MaxEntries > 0 && kept >= c.MaxEntries || maxBytes > 0 && bytes+size > maxBytes
		}

		// It may have been touched during the computation of the sizes.
		info, err := os.Lstat(c.Path(e.Name()))
		if err != nil {
			continue // Another process has removed it.
		}

		if age := age(info); age <= c.MaxAge && (!tooMany || age < c.MinAge) {
			if limited {
				kept++
				bytes += size
			}

			continue
		}

		if err := c.Remove(e.Name()); err != nil {
			return err
		}
	}

	return nil
}

// EvictEvery evicts, now and at intervals, until ctx is done.
func (c *Cache) EvictEvery(ctx context.Context, interval time.Duration) error {
	// An entry that cannot be removed now may be the next time.
	evict := func(context.Context) error { return c.Evict() }

	return periodic.Task{Interval: interval, AtOnce: true, Do: evict}.Start(ctx)
}

// filesystemSize returns the size in bytes of the file system of a directory, zero if it is unknown.
func filesystemSize(dir string) int64 {
	var system unix.Statfs_t
	if err := unix.Statfs(dir, &system); err != nil {
		return 0
	}

	return int64(system.Blocks) * int64(system.Bsize) //nolint:gosec,unconvert // No file system is that large. The types differ between platforms.
}

// entries returns all entries, and directories that will become or were one, newest first.
func (c *Cache) entries() ([]fs.FileInfo, error) {
	found, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	all := make([]fs.FileInfo, 0, len(found))

	for _, f := range found {
		if info, err := f.Info(); err == nil { // Otherwise another process has removed it.
			all = append(all, info)
		}
	}

	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })

	return all, nil
}

// age returns the age of a file. A time in the future comes from a clock that was ahead. It counts as
// the same time in the past, so that the file is not young until then.
func age(info fs.FileInfo) time.Duration { return time.Since(info.ModTime()).Abs() }

func (c *Cache) temp() string { return filepath.Join(c.Dir, tempPrefix+rand.Text()) }

// Size returns the size of the files below dir, as far as they can be read.
func Size(dir string) int64 {
	var n int64

	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // See above.
		}

		if info, err := e.Info(); err == nil {
			n += info.Size()
		}

		return nil
	})

	return n
}

// syncFilesystem writes all changes in the file system of dir to disk. After a failure of the
// machine, an entry must not be there without its files.
func syncFilesystem(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // The directory belongs to this package.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Nothing is written through it.

	return unix.Syncfs(int(f.Fd()))
}
