// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// lockRetry is how often to look whether a download is over.
const lockRetry = 100 * time.Millisecond

// lockProviders locks the providers that this run needs and that are not in the store.
// Where another run has locked one, because it is downloading it, this run waits once for
// the end of that run. Even if that run did not download the provider, all waiting runs
// continue together then. The returned function releases the locks.
//
// The locks only prevent that several runs download the same provider at the same time.
// On a file system without locks they do, and nothing else is lost.
func (s *store) lockProviders(ctx context.Context, needs requirements, accept func(pkg) bool) (done func(), err error) {
	var held []*flock.Flock

	done = func() {
		for _, l := range held {
			_ = l.Close() // That unlocks it; there is nothing to be done about an error.
		}
	}

	missing := needs.missingFrom(s.packages(), accept)
	if len(missing) == 0 {
		return done, nil
	}

	if err := s.mkdirs(); err != nil {
		return done, nil //nolint:nilerr // See above.
	}

	// In the order of their names, so that no two runs wait for each other.
	for _, address := range slices.Sorted(maps.Keys(missing)) {
		l := flock.New(s.lockPath(address))

		first, err := l.TryLock()
		if err == nil && first {
			held = append(held, l)

			continue
		}

		if err == nil {
			_, err = l.TryLockContext(ctx, lockRetry)
		}

		_ = l.Close()

		if ctx.Err() != nil {
			done()

			return nil, errors.Wrapf(ctx.Err(), "interrupted while another init downloads provider %q", address)
		}

		if err != nil {
			return done, nil //nolint:nilerr // See above.
		}
	}

	return done, nil
}

func (s *store) lockPath(address string) string {
	sum := sha256.Sum256([]byte(s.links + " " + address))

	return filepath.Join(s.dir, locksDir, hex.EncodeToString(sum[:]))
}
