// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"
)

// MinInterval is the shortest interval that the poll interval annotation can set. A plan takes
// about that long: shorter intervals would be a busy loop.
const MinInterval = time.Second

// maxInterval is the longest interval. With more than a century, due would overflow and not end.
const maxInterval = 10 * 365 * 24 * time.Hour

// untilNext returns how long it is until the next poll of a Workspace.
func (p Policy) untilNext(f Facts, r Record, now time.Time) time.Duration {
	if r.Observed() {
		return p.until(f, r.Observation.At, now)
	}

	// The earlier instance made all polls that were due before Since. The next poll is the first one
	// after Since. due leaves out polls within half an interval after an observation, so the supplied time
	// is half an interval before Since.
	return p.until(f, r.Since.Add(-f.Interval/2), now)
}

// until returns how long it is until the next poll is due after the supplied observation. It uses
// the elapsed time, not the time of day: otherwise a clock that was ahead and is set back would
// delay all polls by the difference. An observation in the future is ignored.
func (p Policy) until(f Facts, last, now time.Time) time.Duration {
	passed := now.Sub(last)
	if passed < 0 {
		return 0
	}

	return p.due(f, now.Add(-passed)).Sub(now)
}

// due returns when the next poll is due after the supplied observation: more than half an interval
// later, jitter included. The poll times of a Workspace depend only on its UID and its interval. So polls
// are spread over the whole interval, even of Workspaces that were created at once.
func (p Policy) due(f Facts, last time.Time) time.Time {
	earliest := last.Add(f.Interval / 2)

	// The intervals of this Workspace are counted from its phase in the first one.
	phase := time.Duration(spread(f.UID, "phase", 0) * float64(f.Interval))
	n := (earliest.UnixNano() - int64(phase)) / int64(f.Interval)

	for ; ; n++ {
		at := time.Unix(0, n*int64(f.Interval)+int64(phase)).Add(p.jitterOf(f, n))
		if at.After(earliest) {
			return at
		}
	}
}

// jitterOf returns the time by which the n-th poll is delayed or advanced, at most a quarter of the
// interval: --poll-jitter may be longer than the short interval of a Workspace.
func (p Policy) jitterOf(f Facts, n int64) time.Duration {
	return time.Duration((2*spread(f.UID, "jitter", n) - 1) * float64(min(p.Jitter, f.Interval/4)))
}

// spread returns a number in [0, 1) that depends only on the arguments.
func spread(uid types.UID, what string, n int64) float64 {
	return float64(xxhash.Sum64String(fmt.Sprint(uid, what, n))>>11) / (1 << 53)
}
