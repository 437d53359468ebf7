// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

const (
	// Limits of the store. A tree that no fetch has used is removed after maxTreeAge.
	maxTrees     = 64
	maxTreeBytes = 4 << 30
	maxTreeAge   = 24 * time.Hour

	// Names in the directory of the store, and in that of a tree.
	treesDir = "trees"
	locksDir = "locks"
	treeDir  = "tree"

	// evictInterval is the interval at which old trees are removed.
	evictInterval = time.Hour

	// lockInterval is the interval at which a fetch tries to get a lock.
	lockInterval = 100 * time.Millisecond
)

// A store keeps fetched trees in a directory: one per source, revision and credentials. Any
// number of processes may use it.
//
// The store only saves work: if it fails, every fetch downloads.
type store struct {
	trees dircache.Cache
	locks string
}

func newStore(dir string) *store {
	return &store{
		trees: dircache.Cache{
			Dir:        filepath.Join(dir, treesDir),
			MaxAge:     maxTreeAge,
			MaxEntries: maxTrees,
			MaxBytes:   maxTreeBytes,
		},
		locks: filepath.Join(dir, locksDir),
	}
}

// storeKey returns the key of the result of a request, which must have a revision. The key stands for the
// configured credentials and the environment: a request gets no tree that was downloaded with other ones.
// That is no proof of access. If the address has the ID of a commit, the repository is not asked, and may
// refuse the same credentials by now.
func storeKey(r Request, res fetch.Result) string {
	return workdir.Digest(nil, append([]string{res.Source, res.Revision, string(r.GitCredentials)}, r.Env...)...)
}

// Lock waits until it gets the lock of the key, or the context ends. The number of
// locks is limited, because their files are never removed: two keys rarely share one. The kernel
// releases the locks of a killed process.
func (s *store) Lock(ctx context.Context, key string) (unlock func()) {
	lock := flock.New(filepath.Join(s.locks, key[:4]))
	if err := os.MkdirAll(s.locks, 0o700); err == nil {
		_, _ = lock.TryLockContext(ctx, lockInterval) // Without the lock, several fetches download the same.
	}

	return func() { _ = lock.Close() } // An error needs no action.
}

// Get copies the directory sub of a tree to dst. It returns false if the tree is missing or
// broken.
func (s *store) Get(key, sub, dst string) (bool, error) {
	var refusal error // That of sub, which is the same for each tree of this key.

	err := s.trees.Use(key, func(dir string) error {
		tree := filepath.Join(dir, treeDir)
		if _, err := os.Lstat(tree); err != nil {
			return err
		}

		var found string

		found, refusal = locate(tree, sub)
		if refusal != nil {
			return nil //nolint:nilerr // It is not an error of the tree.
		}

		return copyTree(found, dst)
	})

	switch {
	case err != nil:
		// A broken tree would block a new one.
		_ = s.trees.Remove(key)

		return false, os.RemoveAll(dst)
	case refusal != nil:
		return false, refusal
	}

	_ = s.trees.Touch(key)

	return true, nil
}

// Put copies a tree into the store.
func (s *store) Put(key, tree string) {
	_ = s.trees.Add(key, func(dir string) error {
		return copyTree(tree, filepath.Join(dir, treeDir))
	})
}

// copyTree copies a module, with the modes of its files: the module may read them, for example to pack a file into an archive.
func copyTree(src, dst string) error {
	if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
		return err
	}

	return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}

		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}

		info, err := e.Info()
		if err != nil {
			return err
		}

		return os.Chmod(filepath.Join(dst, rel), info.Mode().Perm())
	})
}

// Evict removes the modules in a SharedDir that no fetch has used for a day, or that exceed the limits,
// now and at intervals, until ctx is done.
func Evict(ctx context.Context, sharedDir string) error {
	return newStore(sharedDir).trees.EvictEvery(ctx, evictInterval)
}
