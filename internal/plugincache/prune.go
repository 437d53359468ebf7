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
)

const (
	// maxUnused is how long a package is kept that nobody has used, and minRetention how
	// long one is certain to be that is one too many: much longer than any run, and
	// than an entry of a cache with links to it.
	maxUnused    = 7 * 24 * time.Hour
	minRetention = 24 * time.Hour

	// maxPackages bounds the size of all packages, but for those that may be used.
	maxPackages = 16 << 30

	// pruneInterval is how often a Pruner looks. It is far below minRetention.
	pruneInterval = time.Hour

	// packagesLock, in locksDir, is locked by whoever is about to use packages, and
	// for himself by whoever removes some.
	packagesLock = "packages"
)

// A Pruner removes packages that nobody uses any more from a plugin cache, out of what
// this package has put there. Several processes may have one for the same plugin
// cache: each keeps what its directories have links to, and what nobody keeps goes.
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

// NeedLeaderElection says that directories have links, whoever is the leader.
func (p *Pruner) NeedLeaderElection() bool { return false }

// Start keeps and removes packages, now and from time to time, until ctx is done.
func (p *Pruner) Start(ctx context.Context) error {
	t := time.NewTicker(pruneInterval)
	defer t.Stop()

	for {
		// What cannot be removed now may be the next time.
		_ = p.prune(ctx)

		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
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

// touch a package, and say whether it is there: who may not touch it may still use it.
func (s *store) touch(name string) bool {
	return !errors.Is(s.cached(time.Now).Touch(name), fs.ErrNotExist)
}

// use the packages: those that are touched until the returned function is called are
// not removed for a while. Where files cannot be locked nothing is ever removed.
func (s *store) use(ctx context.Context) (done func()) {
	l := flock.New(s.path(locksDir, packagesLock))
	_, _ = l.TryRLockContext(ctx, lockRetry)

	return func() { _ = l.Close() }
}

// unlink removes links to packages that are gone.
func (s *store) unlink() error {
	return filepath.WalkDir(s.path(originsDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type() != fs.ModeSymlink {
			return err
		}

		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}

		return os.Remove(path) //nolint:gosec // Nobody else writes there.
	})
}

// path of something in the store.
func (s *store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}
