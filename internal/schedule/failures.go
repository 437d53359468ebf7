// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"
)

const (
	// stallAfter is the number of failures in a row after which a Workspace is stalled. The retries
	// before that take a quarter of a minute.
	stallAfter = 5

	// retryBase is the delay after the first failure, and stallBase the one after the failure that
	// makes a Workspace stalled. Both double with every failure, the latter up to the poll
	// interval.
	retryBase = time.Second
	stallBase = time.Minute
)

// Failures are the failed reconciles of a Workspace since the last success or the last change by
// a person.
type Failures struct {
	// Count of the failures.
	Count int

	// Retry is the time of the next retry.
	Retry time.Time

	// desired and deleted are the Facts of the same names at the time of the failures.
	desired string
	deleted bool
}

// Stalled says whether the Workspace is retried less often than others.
func (f Failures) Stalled() bool { return f.Count >= stallAfter }

// of says whether the failures are about the current Facts.
func (f Failures) of(facts Facts) bool {
	return f.desired == facts.Desired && f.deleted == facts.Deleted
}

// backoff returns how long a Workspace waits after the supplied number of failures in a row.
func (p Policy) backoff(failures int) time.Duration {
	if failures < stallAfter {
		return retryBase << (failures - 1)
	}

	return min(stallBase<<min(failures-stallAfter, 10), max(p.Interval, stallBase))
}
