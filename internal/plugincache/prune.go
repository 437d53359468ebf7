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
	// eviction by size. It is much longer than any run, and than the life of an entry of the
	// init cache, which has links to packages.
	maxUnused    = 7 * 24 * time.Hour
	minRetention = 24 * time.Hour

	// maxPackages limits the size of all packages, except those that minRetention protects.
	maxPackages = 16 << 30

	// pruneInterval is the interval of a Pruner. It is much shorter than minRetention.
	pruneInterval = time.Hour
)

// A Pruner deletes packages from the store of a plugin cache. Several processes may each have one for
// the same plugin cache. Each refreshes the packages that its directories have links to, and deletes
// the packages that no Pruner has refreshed for maxUnused.
type Pruner struct {
	// Cache is the plugin cache.
	Cache string

	// Initialized returns the directories in which init ran.
	Initialized func() ([]string, error)
}

// NeedLeaderElection returns false: directories of a standby replica have links, too.
func (p *Pruner) NeedLeaderElection() bool { return false }

// Start prunes, now and every pruneInterval, until ctx is done.
func (p *Pruner) Start(ctx context.Context) error {
	// A package that cannot be removed now may be the next time.
	prune := func(context.Context) error { return p.prune() }

	return periodic.Task{Interval: pruneInterval, AtOnce: true, Do: prune}.Start(ctx)
}

// prune refreshes the packages that are in use, and removes the expired ones.
//
// An init marks a package as used when it has installed it. If the package is removed before that, the
// init fails, or plan asks for another one, which downloads the package.
func (p *Pruner) prune() error {
	s := newStore(p.Cache, "")

	dirs, err := p.Initialized()
	if err != nil {
		return fmt.Errorf("cannot find out which packages are used: %w", err)
	}

	for _, dir := range dirs {
		for _, linked := range list(filepath.Join(dir, providersDir)) {
			if target, err := os.Readlink(linked.dir); err == nil && s.owns(target) {
				s.touch(target)
			}
		}
	}

	return errors.Join(s.files.Evict(), s.unlinkEvicted())
}

// unlinkEvicted removes links to packages that are gone, and directories that become empty.
func (s *store) unlinkEvicted() error {
	origins := filepath.Join(s.dir, originsDir)

	links, err := filepath.Glob(filepath.Join(origins, "*/*/*/*/*/*"))
	if err != nil {
		return err
	}

	for _, path := range links {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}

		// A directory that is not empty cannot be removed.
		for path != origins && os.Remove(path) == nil {
			path = filepath.Dir(path)
		}
	}

	return nil
}
