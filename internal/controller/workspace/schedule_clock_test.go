// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"
	"unsafe"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// setClock returns now as a clock tells it that was set by d meanwhile: the time of day is
// another one, and the monotonic reading is the same.
func setClock(t *testing.T, now time.Time, d time.Duration) time.Time {
	t.Helper()

	// The seconds are above the nanoseconds, of 30 bits, in the first word of a time with
	// a monotonic reading.
	set := now
	word := (*int64)(unsafe.Pointer(&set))
	*word += int64(d/time.Second) << 30

	if off := set.Round(0).Sub(now.Round(0)); off != d || set.Sub(now) != 0 {
		t.Fatalf("cannot set the clock by %s: the time of day changes by %s, the monotonic reading by %s", d, off, set.Sub(now))
	}

	return set
}

// TestClock ensures that the next look is due in time, however the clock is set meanwhile.
func TestClock(t *testing.T) {
	t.Parallel()

	const poll = 10 * time.Minute

	cases := map[string]struct {
		reason string
		set    time.Duration
		// bare says that the time of the last look has no monotonic reading.
		bare bool
		// elapsed since the last look.
		elapsed time.Duration
		// atOnce and later say when the next one is due.
		atOnce, later bool
	}{
		"BackSoon":    {reason: "A look is due again an interval after the last one, not a day.", set: -24 * time.Hour, elapsed: time.Minute, later: true},
		"Back":        {reason: "A look is overdue, whatever time it is.", set: -24 * time.Hour, elapsed: 2 * poll, atOnce: true},
		"AheadSoon":   {reason: "Nothing is due because it is tomorrow.", set: 24 * time.Hour, elapsed: time.Minute, later: true},
		"Ahead":       {reason: "A look is overdue, whatever time it is.", set: 24 * time.Hour, elapsed: 2 * poll, atOnce: true},
		"FromFuture":  {reason: "A time in the future is not believed.", set: -24 * time.Hour, bare: true, elapsed: time.Minute, atOnce: true},
		"FromThePast": {reason: "A time in the past is.", bare: true, elapsed: time.Minute, later: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			last := time.Now()
			now := setClock(t, last.Add(tc.elapsed), tc.set)

			if tc.bare {
				last = last.Round(0)
			}

			s := &schedule{memory: newMemory(), poll: poll, now: func() time.Time { return now }}
			ws := workspaceWithUID("a")

			if got := s.isDue(ws, last); got != tc.atOnce {
				t.Errorf("\n%s\nisDue(...): want %t, got %t", tc.reason, tc.atOnce, got)
			}

			s.memory.keep(ws.GetUID(), look{at: last, upToDate: true, told: true})
			ws.SetConditions(xpv2.Available())

			wait := s.wait(ws, poll)
			if tc.atOnce && wait != time.Millisecond {
				t.Errorf("\n%s\nwait(...): want none, got %s", tc.reason, wait)
			}

			if early, late := poll/2-tc.elapsed, poll*3/2-tc.elapsed; tc.later && (wait < early || wait > late) {
				t.Errorf("\n%s\nwait(...): want something from %s to %s, got %s", tc.reason, early, late, wait)
			}
		})
	}
}
