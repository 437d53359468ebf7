// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// lockRetry is the interval at which a run checks whether a download is over.
const lockRetry = 100 * time.Millisecond

// maxWait limits how long a run waits for the downloads of others. Their inits may hang before they
// download anything, for example because of a module of another Workspace.
const maxWait = 5 * time.Minute

// lockProviders locks the providers that are not in the store, until done is called. If another run
// has locked one of them, this run waits once for the end of that run, and for maxWait in all. Even if
// that run did not download the provider, all waiting runs then continue together.
//
// The locks only save downloads: on a file system without them, several runs may download the same.
func (s *store) lockProviders(ctx context.Context, missing []string) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()

	addresses := map[string]string{}
	for _, address := range missing {
		addresses[s.lockPath(address)] = address
	}

	var held []*flock.Flock

	done = func() {
		for _, l := range held {
			_ = l.Close() // That unlocks it; there is nothing to be done about an error.
		}
	}

	_ = os.MkdirAll(filepath.Join(s.dir, locksDir), 0o700) // Otherwise the locks fail.

	// The order of their paths prevents deadlocks.
	for _, path := range slices.Sorted(maps.Keys(addresses)) {
		l := flock.New(path)

		if free, _ := l.TryLock(); free {
			held = append(held, l)

			continue
		}

		_, _ = l.TryLockContext(waiting, lockRetry)
		_ = l.Close()

		if ctx.Err() != nil {
			done()

			return nil, fmt.Errorf("interrupted while another init downloads provider %q: %w", addresses[path], ctx.Err())
		}
	}

	return done, nil
}
