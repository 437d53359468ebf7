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

// lockProviders makes this run the one that gets the providers which it needs and which
// are not there. Where another run is doing that already, it waits for its end and
// then no longer: whether or not that was of use, those who waited go on together.
// The returned function lets others go on.
//
// This only keeps runs from downloading the same at the same time. Where files
// cannot be locked they do, and nothing else is lost.
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
