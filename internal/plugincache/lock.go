// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockRetry is the interval at which a run checks whether a download is over.
const lockRetry = 100 * time.Millisecond

// maxWait limits how long a run waits for the downloads of others. Their inits may hang before they
// download anything, for example in a module of another Workspace, until its timeout.
const maxWait = 5 * time.Minute

// lockProviders locks the providers that this run needs and that are not in the store. If another
// run has locked one of them to download it, this run waits once for the end of that run, and for
// maxWait in all. Even if that run did not download the provider, all waiting runs then continue
// together. The returned function releases the locks.
//
// The locks only prevent several runs from downloading the same provider at the same time. On a
// file system without locks, several runs may do so, without any other effect.
func (s *store) lockProviders(ctx context.Context, needs requirements, accept func(pkg) bool) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()

	var held []*flock.Flock

	done = func() {
		for _, l := range held {
			_ = l.Close() // That unlocks it; there is nothing to be done about an error.
		}
	}

	// The order of their names prevents deadlocks.
	for _, address := range needs.missingFrom(s.packages(), accept) {
		l := newLock(s.origin, ".lock-"+strings.ReplaceAll(address, "/", ","))

		if free, _ := l.TryLock(); free {
			held = append(held, l)

			continue
		}

		_, _ = l.TryLockContext(waiting, lockRetry)
		_ = l.Close()

		if ctx.Err() != nil {
			done()

			return nil, fmt.Errorf("interrupted while another init downloads provider %q: %w", address, ctx.Err())
		}
	}

	return done, nil
}

// use protects packages from removal: those that are touched until the returned function is
// called are kept for minRetention. On a file system without locks no package is ever removed.
func (s *store) use(ctx context.Context) (done func()) {
	l := newLock(s.dir, packagesLock)
	_, _ = l.TryRLockContext(ctx, lockRetry)

	return func() { _ = l.Close() }
}

// newLock returns the lock of the supplied name in a directory of the store.
func newLock(dir, name string) *flock.Flock {
	// The lock fails if the directory is missing.
	_ = os.MkdirAll(dir, 0o700)

	return flock.New(filepath.Join(dir, name))
}
