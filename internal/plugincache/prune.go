// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
)

const (
	// maxUnused is how long an unused package is kept. minRetention protects a package from
	// eviction by size. It is much longer than any run, and than the lifetime of an entry of the
	// init cache with links to the package.
	maxUnused    = 7 * 24 * time.Hour
	minRetention = 24 * time.Hour

	// maxPackages limits the size of all packages, except those that minRetention protects.
	maxPackages = 16 << 30

	// pruneInterval is the interval of a Pruner. It is much shorter than minRetention.
	pruneInterval = time.Hour

	// packagesLock is locked shared to use packages, and exclusively to remove packages.
	packagesLock = "packages.lock"
)

// A Pruner deletes unused packages from the store of a plugin cache. Several processes may each
// have a Pruner for the same plugin cache. Each refreshes the packages that its directories have
// links to, and deletes the packages that no Pruner has refreshed for maxUnused.
type Pruner struct {
	cache       string
	initialized func() ([]string, error)
	now         func() time.Time
}

// NewPruner returns a Pruner for a plugin cache. initialized returns the directories in which
// init ran.
func NewPruner(cache string, initialized func() ([]string, error)) *Pruner {
	return &Pruner{cache: cache, initialized: initialized, now: time.Now}
}

// NeedLeaderElection returns false: directories of a standby replica have links, too.
func (p *Pruner) NeedLeaderElection() bool { return false }

// Start prunes, now and every pruneInterval, until ctx is done.
func (p *Pruner) Start(ctx context.Context) error {
	// A package that cannot be removed now may be removed the next time.
	return periodic.Task{Interval: pruneInterval, AtOnce: true, Do: p.prune}.Start(ctx)
}

// prune refreshes the packages that are in use, and removes the expired ones.
func (p *Pruner) prune(ctx context.Context) error {
	s := newStore(p.cache, "", p.now)
	if _, err := os.Stat(s.all.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	dirs, err := p.initialized()
	if err != nil {
		return fmt.Errorf("cannot find out which packages are used: %w", err)
	}

	for _, dir := range dirs {
		for _, linked := range list(filepath.Join(dir, providersDir)) {
			if target, err := os.Readlink(linked.dir); err == nil && filepath.Dir(target) == s.all.Dir {
				s.touch(filepath.Base(target))
			}
		}
	}

	l := newLock(s.dir, packagesLock)
	defer l.Close() //nolint:errcheck // That unlocks it; there is nothing to be done about an error.

	if ok, err := l.TryLockContext(ctx, lockRetry); !ok {
		return fmt.Errorf("cannot keep others from using packages that are removed: %w", err)
	}

	return errors.Join(s.all.Evict(), s.evictOrigins())
}

// evictOrigins removes the origins that have had no package for maxUnused.
func (s *store) evictOrigins() error {
	entries, err := os.ReadDir(s.origins.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	for _, e := range entries {
		if len(list(s.origins.Path(e.Name()))) > 0 {
			_ = s.origins.Touch(e.Name()) // Without permission it may be evicted. Its next package makes it again.
		}
	}

	return errors.Join(err, s.origins.Evict())
}
