// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestDue(t *testing.T) {
	t.Parallel()

	const tenths = 10

	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason   string
		jitter   time.Duration
		interval time.Duration
		off      time.Duration
	}{
		"NoJitter": {
			reason:   "Without jitter polls are one interval apart.",
			interval: time.Minute,
		},
		"Jitter": {
			reason:   "The jitter is added or taken away, at both ends of the interval.",
			jitter:   time.Minute,
			interval: 10 * time.Minute,
			off:      2 * time.Minute,
		},
		"JitterLargerThanInterval": {
			reason:   "A jitter that would exceed the interval is cut to a quarter of it.",
			jitter:   time.Minute,
			interval: 2 * time.Second,
			off:      time.Second,
		},
		"Rarest": {
			reason:   "The times of the longest interval do not overflow.",
			interval: maxInterval,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := Policy{Jitter: tc.jitter}
			parts := [tenths]int{}
			earlier, later := false, false

			for i := range 1000 {
				f := Facts{UID: types.UID(strconv.Itoa(i)), Interval: tc.interval}
				due := p.due(f, last)

				if again := p.due(f, last); !again.Equal(due) {
					t.Fatalf("\n%s\ndue(...): the same question was answered with %s and %s", tc.reason, due, again)
				}

				if early := due.Sub(last) - tc.interval/2; early <= 0 || early > tc.interval+tc.off {
					t.Fatalf("\n%s\ndue(...): %s after the last poll, want more than half of %s and no more than one and a half, give or take %s", tc.reason, due.Sub(last), tc.interval, tc.off)
				}

				parts[due.UnixNano()%int64(tc.interval)*tenths/int64(tc.interval)]++

				off := p.due(f, due).Sub(due) - tc.interval
				if off.Abs() > tc.off {
					t.Fatalf("\n%s\ndue(...): the next but one is off by %s, want at most %s", tc.reason, off, tc.off)
				}

				earlier = earlier || off < -tc.off/4
				later = later || off > tc.off/4
			}

			if spread := tc.off > 0; earlier != spread || later != spread {
				t.Errorf("\n%s\ndue(...): some early: %t, some late: %t, want %t", tc.reason, earlier, later, spread)
			}

			for _, n := range parts {
				if n < 40 || n > 160 {
					t.Errorf("\n%s\ndue(...): of 1000 Workspaces observed at once %v are due in each tenth of the interval: want about 100 in each", tc.reason, parts)
				}
			}
		})
	}
}

// TestRestart ensures that a Workspace is polled on time although the instance was restarted
// shortly before.
func TestRestart(t *testing.T) {
	t.Parallel()

	p := Policy{Jitter: time.Minute}
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	for i := range 1000 {
		f := Facts{UID: types.UID(strconv.Itoa(i)), Interval: 10 * time.Minute}
		due := p.due(f, last)
		started := Record{Since: due.Add(-time.Second)}

		if got := p.untilNext(f, started, started.Since); got != time.Second {
			t.Fatalf("a Workspace that was due in a second is due in %s after a restart", got)
		}

		if got := p.untilNext(f, started, due); got > 0 {
			t.Fatalf("a Workspace whose time has come is due in %s after a restart", got)
		}
	}
}

// setClock returns now according to a clock that was set by d in the meantime: the time of day
// differs, and the monotonic reading is the same.
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

// TestClock ensures that the next poll is due on time when the clock is set in the meantime.
func TestClock(t *testing.T) {
	t.Parallel()

	const interval = 10 * time.Minute

	cases := map[string]struct {
		reason string
		set    time.Duration
		// bare says that the time of the last observation has no monotonic reading.
		bare bool
		// elapsed since the last observation.
		elapsed time.Duration
		due     bool
	}{
		"BackSoon":    {reason: "A poll is due an interval after the last one, not a day.", set: -24 * time.Hour, elapsed: time.Minute},
		"Back":        {reason: "A poll is overdue, regardless of the time of day.", set: -24 * time.Hour, elapsed: 2 * interval, due: true},
		"AheadSoon":   {reason: "A clock that is set ahead makes no poll due.", set: 24 * time.Hour, elapsed: time.Minute},
		"Ahead":       {reason: "A poll is overdue, regardless of the time of day.", set: 24 * time.Hour, elapsed: 2 * interval, due: true},
		"FromFuture":  {reason: "A time in the future is ignored.", set: -24 * time.Hour, bare: true, elapsed: time.Minute, due: true},
		"FromThePast": {reason: "A time in the past counts.", bare: true, elapsed: time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			last := time.Now()
			now := setClock(t, last.Add(tc.elapsed), tc.set)

			if tc.bare {
				last = last.Round(0)
			}

			wait := Policy{}.until(Facts{UID: "a", Interval: interval}, last, now)
			if due := wait <= 0; due != tc.due {
				t.Errorf("\n%s\nuntil(...): want due %t, got %s", tc.reason, tc.due, wait)
			}

			if early, late := interval/2-tc.elapsed, interval*3/2-tc.elapsed; !tc.due && (wait < early || wait > late) {
				t.Errorf("\n%s\nuntil(...): want something from %s to %s, got %s", tc.reason, early, late, wait)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		interval time.Duration
		want     []time.Duration
	}{
		"Long": {
			reason:   "It doubles up to the poll interval.",
			interval: 10 * time.Minute,
			want: []time.Duration{
				time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
				time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute,
			},
		},
		"Short": {
			reason:   "A short poll interval does not make retries of a stalled Workspace more frequent.",
			interval: time.Second,
			want:     []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, time.Minute, time.Minute},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []time.Duration
			for n := range tc.want {
				got = append(got, Policy{Interval: tc.interval}.backoff(Failures{Count: n + 1}))
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nbackoff(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if got := (Policy{Interval: 24 * time.Hour}).backoff(Failures{Count: 1000}); got <= 0 || got > 24*time.Hour {
		t.Errorf("backoff(1000): want at most a day, got %s", got)
	}
}

// TestRetriesSpread has two Workspaces that fail at the same time, as two that share a state do. Their retries
// drift apart.
func TestRetriesSpread(t *testing.T) {
	t.Parallel()

	p, apart := Policy{Interval: 10 * time.Minute}, time.Duration(0)

	for n := 1; n <= 10; n++ {
		f := Failures{Count: n}
		a, b := p.retryDelay("a", f), p.retryDelay("b", f)

		for _, delay := range []time.Duration{a, b} {
			if longest := p.backoff(f); delay > longest || delay < longest*3/4 {
				t.Errorf("retryDelay(...) after %d failures: want from three quarters of %s to all of it, got %s", n, longest, delay)
			}
		}

		if a == b {
			t.Errorf("retryDelay(...) after %d failures: want another one for each Workspace, got %s", n, a)
		}

		apart = max(apart, (a - b).Abs())
	}

	// A reconcile of a Workspace that finds a lock takes a few seconds.
	if apart < 10*time.Second {
		t.Errorf("want retries that are 10s apart, got %s", apart)
	}
}
