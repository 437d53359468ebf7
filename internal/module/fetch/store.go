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
	// maxShared is how many trees are kept for others, and sharedAge how long one is
	// that nobody has asked for.
	maxShared      = 64
	maxSharedBytes = 4 << 30
	sharedAge      = 24 * time.Hour

	// What there is in the directory of what is shared.
	sharedTrees = "trees"
	sharedLocks = "locks"

	// What there is in the directory of a tree.
	sharedTree     = "tree"
	sharedRevision = "revision"
)

var (
	// errShared ends a fetch: what it would download was downloaded already.
	errShared = errors.New("somebody else has fetched it")

	// errLost ends a fetch: what was downloaded already is gone, or broken.
	errLost = errors.New("what somebody else has fetched is gone")
)

// Shared is where fetches leave what they have downloaded for others.
type Shared struct {
	// Dir is a directory. Fetches of any number of processes may use it.
	Dir string `json:"dir"`

	// Scope stands for what decides, besides the address, what a fetch may download.
	// Run sets it.
	Scope string `json:"scope"`
}

// scope of a fetch: nobody gets what he could not fetch himself, so it stands for all
// that the environment has. What is in credentials for git, or in an address, is part
// of the names of what git gets.
func scope(env []string) string {
	// The CLI's own variables mean nothing to a fetch, and have paths and inputs that
	// no two Workspaces share.
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, "TF_") })

	return fingerprint(env...)
}

// A sharing is one fetch's view of what others have downloaded. It is for one tree at
// most, which it claims, and then either takes or leaves. If it is nil there is
// nothing, and nothing is kept.
//
// It only spares work: where it fails everybody downloads.
type sharing struct {
	trees dircache.Cache
	locks string
	scope string

	// key and revision of the tree that was claimed.
	key, revision string

	lock *flock.Flock
}

func newSharing(s *Shared) *sharing {
	if s == nil {
		return nil
	}
	return &sharing{
		trees: dircache.Cache{
			Dir:        filepath.Join(s.Dir, sharedTrees),
			MaxAge:     sharedAge,
			MaxEntries: maxShared,
			MaxBytes:   maxSharedBytes,
			Now:        time.Now,
		},
		locks: filepath.Join(s.Dir, sharedLocks),
		scope: s.Scope,
	}
}

// known returns the revision of the tree of these names that somebody has downloaded.
// If nobody has, it waits for whoever is about to.
func (s *sharing) known(names ...string) string {
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

// claim the tree of these names. It returns errShared if somebody has downloaded this
// revision of it, after a wait for whoever is about to. Without a revision nobody can
// tell.
func (s *sharing) claim(revision string, names ...string) error {
	if s == nil {
		return nil
	}
	if revision == "" {
		s.release()
		return nil
	}
	s.key, s.revision = s.keyOf(names), revision
	if s.revisionOf(s.key) == revision {
		return errShared
	}
	s.acquire(s.key)
	if s.revisionOf(s.key) == revision {
		return errShared
	}
	return nil
}

// disclaim the tree: it may not be what it was claimed as.
func (s *sharing) disclaim() {
	if s != nil {
		s.key = ""
	}
}

// take makes dst a copy of a directory in the tree that was claimed.
func (s *sharing) take(sub, dst string) error {
	s.release()
	_ = s.trees.Touch(s.key)

	err := s.trees.Use(s.key, func(dir string) error {
		tree := filepath.Join(dir, sharedTree)
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
		// It may be of no use to anybody.
		return errors.Join(errLost, s.trees.Remove(s.key))
	}
	return err
}

// leave a copy of the tree that was claimed for others.
func (s *sharing) leave(tree string) {
	if s == nil || s.key == "" {
		return
	}
	// There may be another revision of it, or what was of no use.
	if err := s.trees.Remove(s.key); err != nil {
		return
	}
	_ = s.trees.Add(s.key, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, sharedRevision), []byte(s.revision), 0o600); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(dir, sharedTree), os.DirFS(tree))
	})
}

// acquire waits until nobody else downloads the tree, or another one with the same
// lock: there are a few locks only, because their files stay for ever. A process that
// is killed releases what it has.
func (s *sharing) acquire(key string) {
	if s.lock != nil || os.MkdirAll(s.locks, 0o700) != nil {
		return
	}
	s.lock = flock.New(filepath.Join(s.locks, key[:2]))
	_ = s.lock.Lock() // Without it, all do the same.
}

// release lets others go on.
func (s *sharing) release() {
	if s != nil && s.lock != nil {
		_ = s.lock.Close() // There is nothing to be done about an error.
		s.lock = nil
	}
}

// revisionOf returns the revision of a tree, empty if there is none.
func (s *sharing) revisionOf(key string) string {
	var data []byte
	err := s.trees.Use(key, func(dir string) (err error) {
		data, err = regular.Read(filepath.Join(dir, sharedRevision), regular.MiB)
		return err
	})
	if err != nil {
		return ""
	}
	return string(data)
}

func (s *sharing) keyOf(names []string) string {
	return fingerprint(append([]string{s.scope}, names...)...)
}
