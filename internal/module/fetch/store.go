// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// maxTrees, maxTreeBytes and maxTreeAge limit the store. A tree that no fetch has
	// asked for is removed after maxTreeAge.
	maxTrees     = 64
	maxTreeBytes = 4 << 30
	maxTreeAge   = 24 * time.Hour

	// Names in the directory of the store.
	storeTrees = "trees"
	storeLocks = "locks"

	// Names in the directory of a tree.
	storeTree     = "tree"
	storeRevision = "revision"
)

var (
	// errStored ends a fetch: the store has the tree already.
	errStored = errors.New("somebody else has fetched it")

	// errLost ends a fetch: the stored tree is gone, or broken.
	errLost = errors.New("what somebody else has fetched is gone")
)

// Store is a directory in which fetches share the trees that they have downloaded.
type Store struct {
	// Dir is a directory. Fetches of any number of processes may use it.
	Dir string `json:"dir"`

	// Scope stands for everything besides the address that decides what a fetch may
	// download. Run sets it.
	Scope string `json:"scope"`
}

// scope of a fetch stands for its whole environment: a fetch gets no stored tree that it
// could not download itself. Credentials for git, and those in an address, are part of
// the names of the trees that git gets.
func scope(env []string) string {
	// A fetch does not use the variables of the CLI, and they hold paths and inputs that
	// differ between all Workspaces.
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TF_") })

	return fingerprint(env...)
}

// A store is one fetch's view of the shared trees. A fetch reserves at most one tree, and
// then either gets it from the store or puts it there. A nil store is empty and keeps
// nothing.
//
// The store only saves work: where it fails, every fetch downloads.
type store struct {
	trees dircache.Cache
	locks string
	scope string

	// key and revision of the tree that is reserved.
	key, revision string

	lock *flock.Flock
}

func newStore(s *Store) *store {
	if s == nil {
		return nil
	}

	return &store{
		trees: dircache.Cache{
			Dir:        filepath.Join(s.Dir, storeTrees),
			MaxAge:     maxTreeAge,
			MaxEntries: maxTrees,
			MaxBytes:   maxTreeBytes,
			Now:        time.Now,
		},
		locks: filepath.Join(s.Dir, storeLocks),
		scope: s.Scope,
	}
}

// lookup returns the revision of the stored tree with these names. If there is none, it
// waits for a fetch that is downloading the tree.
func (s *store) lookup(names ...string) string {
	if s == nil {
		return ""
	}

	key := s.keyOf(names)
	if revision := s.revisionOf(key); revision != "" {
		return revision
	}

	s.acquire(key)

	revision := s.revisionOf(key)
	if revision != "" {
		s.release()
	}

	return revision
}

// reserve the tree with these names. It waits for another fetch that is downloading the
// tree, and returns errStored if the store has this revision then. Without a revision it
// reserves nothing: trees could not be compared.
func (s *store) reserve(revision string, names ...string) error {
	if s == nil {
		return nil
	}

	if revision == "" {
		s.release()

		return nil
	}

	s.key, s.revision = s.keyOf(names), revision
	if s.revisionOf(s.key) == revision {
		return errStored
	}

	s.acquire(s.key)

	if s.revisionOf(s.key) == revision {
		return errStored
	}

	return nil
}

// discard the reservation: the tree may not have the reserved revision.
func (s *store) discard() {
	if s != nil {
		s.key = ""
	}
}

// get makes dst a copy of a directory in the reserved tree.
func (s *store) get(sub, dst string) error {
	s.release()
	_ = s.trees.Touch(s.key)

	err := s.trees.Use(s.key, func(dir string) error {
		tree := filepath.Join(dir, storeTree)
		if _, err := os.Lstat(tree); err != nil || s.revisionOf(s.key) != s.revision {
			return dircache.ErrGone
		}

		found, err := locate(tree, sub)
		if err != nil {
			return err
		}

		return os.CopyFS(dst, os.DirFS(found))
	})
	if errors.Is(err, dircache.ErrGone) || errors.Is(err, os.ErrNotExist) {
		// It may be broken for every fetch.
		return errors.Join(errLost, s.trees.Remove(s.key))
	}

	return err
}

// put a copy of the reserved tree into the store.
func (s *store) put(tree string) {
	if s == nil || s.key == "" {
		return
	}
	// The store may have another revision of it, or a broken tree.
	if err := s.trees.Remove(s.key); err != nil {
		return
	}

	_ = s.trees.Add(s.key, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, storeRevision), []byte(s.revision), 0o600); err != nil {
			return err
		}

		return os.CopyFS(filepath.Join(dir, storeTree), os.DirFS(tree))
	})
}

// acquire waits until no other fetch downloads the tree, or another tree with the same
// lock: there are only a few locks, because their files are never removed. The kernel
// releases the locks of a process that is killed.
func (s *store) acquire(key string) {
	if s.lock != nil || os.MkdirAll(s.locks, 0o700) != nil {
		return
	}

	s.lock = flock.New(filepath.Join(s.locks, key[:2]))
	_ = s.lock.Lock() // Without the lock, several fetches download the same.
}

// release the lock, so that other fetches continue.
func (s *store) release() {
	if s != nil && s.lock != nil {
		_ = s.lock.Close() // There is nothing to be done about an error.
		s.lock = nil
	}
}

// revisionOf returns the revision of a tree, empty if there is none.
func (s *store) revisionOf(key string) string {
	var data []byte

	err := s.trees.Use(key, func(dir string) (err error) {
		data, err = regular.Read(filepath.Join(dir, storeRevision), regular.MiB)

		return err
	})
	if err != nil {
		return ""
	}

	return string(data)
}

func (s *store) keyOf(names []string) string {
	return fingerprint(append([]string{s.scope}, names...)...)
}
