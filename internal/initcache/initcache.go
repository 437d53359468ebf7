// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package initcache keeps results of init. A directory with the same inputs gets an earlier result,
// so that init need not run there.
package initcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// init installs to dataDir, and writes the selected versions to lockName.
	dataDir  = ".terraform"
	lockName = ".terraform.lock.hcl"

	// providersDir, in dataDir, has the programs of providers, or links to them.
	providersDir = "providers"

	// selectionName, in dataDir, is the file with the selected workspace.
	selectionName = "environment"

	// maxAge limits the age of the modules and providers of a new Workspace without exact versions.
	// It also limits how long the configuration of a backend, which may have secrets, outlives its
	// Workspaces.
	maxAge = time.Hour

	// maxEntries and maxBytes limit the size of a cache.
	maxEntries = 256
	maxBytes   = 4 << 30

	// evictInterval is the interval at which old entries are removed.
	evictInterval = 10 * time.Minute
)

// A Cache is a directory of results of init, each under a key. Any number of processes may use it.
type Cache struct {
	entries dircache.Cache
	observe func(hit bool)
}

// New returns the Cache in a directory, which is created when needed. It should be in the file
// system of the directories in which init runs. observe is called for each Restore into a fresh
// directory, with whether there was a result.
func New(dir string, observe func(hit bool)) *Cache {
	return &Cache{
		entries: dircache.Cache{Dir: dir, MaxAge: maxAge, MaxEntries: maxEntries, MaxBytes: maxBytes},
		observe: observe,
	}
}

// Fresh says whether init never ran in a directory. Otherwise the result depends on an earlier one,
// such as a backend with a state to migrate.
func Fresh(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, dataDir))

	return errors.Is(err, fs.ErrNotExist)
}

// Restore copies the kept result of init into a directory. If that is not possible, it returns
// false and does not change the directory.
func (c *Cache) Restore(key, dir string) bool {
	if !Fresh(dir) {
		return false
	}

	// A rename replaces a link that the module may have in its place.
	temp := filepath.Join(dir, dataDir, lockName)

	err := c.entries.Use(key, func(entry string) error {
		if err := copyTree(filepath.Join(entry, dataDir), filepath.Join(dir, dataDir), checkTarget); err != nil {
			return err
		}

		return ignoreMissing(copyFile(filepath.Join(entry, lockName), temp))
	})
	if err == nil {
		err = ignoreMissing(os.Rename(temp, filepath.Join(dir, lockName)))
	}

	if err != nil {
		_ = os.RemoveAll(filepath.Join(dir, dataDir))
	}

	c.observe(err == nil)

	return err == nil
}

// checkTarget refuses links with a missing target.
func checkTarget(path, _ string) error {
	_, err := os.Stat(path)

	return err
}

// Store keeps the result of init in a directory that was fresh before. The key stands for
// everything that the result of init depends on, including secrets. root, the directory or one above
// it, will be removed later: a result with a link into it is not kept. An existing entry does not
// change.
func (c *Cache) Store(key, root, dir string) error {
	return c.entries.Add(key, func(entry string) error {
		if err := copyTree(filepath.Join(dir, dataDir), filepath.Join(entry, dataDir), checkLasting(root, dir)); err != nil {
			return err
		}

		return ignoreMissing(copyFile(filepath.Join(dir, lockName), filepath.Join(entry, lockName)))
	})
}

// ignoreMissing ignores that there is no lock file, because there are no providers.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	return err
}

// checkLasting refuses links into root, and relative links out of the copied tree.
func checkLasting(root, dir string) func(path, target string) error {
	return func(path, target string) error {
		lasting := !isWithin(root, target)
		if !filepath.IsAbs(target) {
			lasting = isWithin(filepath.Join(dir, dataDir), filepath.Join(filepath.Dir(path), target))
		}

		if !lasting {
			return fmt.Errorf("cannot keep link %q to %q", path, target)
		}

		return nil
	}
}

// isWithin says whether an absolute path is dir or below it.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)

	return err == nil && filepath.IsLocal(rel)
}

// Forget removes an entry.
func (c *Cache) Forget(key string) error { return c.entries.Remove(key) }

// Start evicts entries, at once and periodically, until ctx is done.
func (c *Cache) Start(ctx context.Context) error { return c.entries.EvictEvery(ctx, evictInterval) }

// copyTree copies the result of init. The programs of providers become hard links where possible:
// they are large, and never written to. check may refuse a link.
func copyTree(src, dst string, check func(path, target string) error) error {
	return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}

		to := filepath.Join(dst, rel)

		switch {
		case rel == selectionName:
			return nil
		case e.IsDir():
			return os.Mkdir(to, 0o700)
		case e.Type() == fs.ModeSymlink:
			return copyLink(path, to, check)
		case !e.Type().IsRegular():
			return fmt.Errorf("cannot copy %q, which is neither a file nor a directory", path)
		case strings.HasPrefix(rel, providersDir+"/") && os.Link(path, to) == nil: //nolint:gosec // No run uses either directory.
			return nil
		default:
			return copyFile(path, to)
		}
	})
}

func copyLink(path, to string, check func(path, target string) error) error {
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}

	if err := check(path, target); err != nil {
		return err
	}

	return os.Symlink(target, to)
}

// copyFile copies a file, with its mode, to a path that does not exist: a module may read the modes of its files, for example to
// pack them into an archive. Other users cannot read it, because no directory is theirs to read.
func copyFile(path, to string) error {
	src, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // It is only read from.

	info, err := src.Stat()
	if err != nil {
		return err
	}

	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // See above.
	if err != nil {
		return err
	}

	_, err = io.Copy(dst, src)

	return errors.Join(err, dst.Chmod(info.Mode().Perm()), dst.Close())
}
