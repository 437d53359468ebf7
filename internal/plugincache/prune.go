// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
)

const (
	// maxUnused is how long an unused package is kept. minRetention protects a package
	// from eviction by size: it is much longer than any run, and than the age of an entry
	// of the init cache with links to the package.
	maxUnused    = 7 * 24 * time.Hour
	minRetention = 24 * time.Hour

	// maxPackages bounds the size of all packages, except for those that minRetention
	// protects.
	maxPackages = 16 << 30

	// pruneInterval is how often a Pruner runs. It is far below minRetention.
	pruneInterval = time.Hour

	// packagesLock, in locksDir, is locked shared to use packages, and exclusively to
	// remove some.
	packagesLock = "packages"
)

// A Pruner deletes unused packages from the store of a plugin cache. Several processes
// may each have a Pruner for the same plugin cache: each one refreshes the packages that
// its directories have links to, and any one deletes the packages that none has refreshed
// for maxUnused.
type Pruner struct {
	cache       string
	initialized func() ([]string, error)
	now         func() time.Time
}

// NewPruner returns a Pruner for a plugin cache. It calls initialized for the
// directories that init ran in.
func NewPruner(cache string, initialized func() ([]string, error)) *Pruner {
	return &Pruner{cache: cache, initialized: initialized, now: time.Now}
}

// NeedLeaderElection returns false: a replica that is not the leader has directories with
// links, too.
func (p *Pruner) NeedLeaderElection() bool { return false }

// Start prunes, now and every pruneInterval, until ctx is done.
func (p *Pruner) Start(ctx context.Context) error {
	// A package that cannot be removed now may be removed the next time.
	return periodic.Task{Interval: pruneInterval, AtOnce: true, Do: p.prune}.Start(ctx)
}

// prune touches the packages that are in use, and removes those that have expired.
func (p *Pruner) prune(ctx context.Context) error {
	s := newStore(p.cache, "")
	if _, err := os.Stat(s.path(packagesDir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err := s.mkdirs(); err != nil {
		return err
	}

	dirs, err := p.initialized()
	if err != nil {
		return errors.Wrap(err, "cannot find out which packages are used")
	}

	packages := s.cached(p.now)

	for _, dir := range dirs {
		for _, linked := range list(filepath.Join(dir, providersDir)) {
			if target, err := os.Readlink(linked.dir); err == nil && filepath.Dir(target) == packages.Dir {
				_ = packages.Touch(filepath.Base(target)) // It was there just now.
			}
		}
	}

	l := flock.New(s.path(locksDir, packagesLock))
	defer l.Close() //nolint:errcheck // That unlocks it; there is nothing to be done about an error.

	if ok, err := l.TryLockContext(ctx, lockRetry); !ok {
		return errors.Wrap(err, "cannot keep others from using packages that are removed")
	}

	return errors.Join(packages.Evict(), s.unlink())
}

// cached returns the packages of the store as they age.
func (s *store) cached(now func() time.Time) *dircache.Cache {
	return &dircache.Cache{Dir: s.path(packagesDir), MaxAge: maxUnused, MinAge: minRetention, MaxBytes: maxPackages, Now: now}
}

// touch a package, and say whether it exists. Without permission to touch a package it
// can still be used.
func (s *store) touch(name string) bool {
	return !errors.Is(s.cached(time.Now).Touch(name), fs.ErrNotExist)
}

// use the packages: those that are touched until the returned function is called are not
// removed for minRetention. On a file system without locks no package is ever removed.
func (s *store) use(ctx context.Context) (done func()) {
	l := flock.New(s.path(locksDir, packagesLock))
	_, _ = l.TryRLockContext(ctx, lockRetry)

	return func() { _ = l.Close() }
}

// unlink removes links to packages that no longer exist.
func (s *store) unlink() error {
	return filepath.WalkDir(s.path(originsDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type() != fs.ModeSymlink {
			return err
		}

		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}

		return os.Remove(path) //nolint:gosec // Only this package writes there.
	})
}

// path of something in the store.
func (s *store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}
