// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimingValidate(t *testing.T) {
	t.Parallel()

	timing := func(duration, deadline, retry, apply time.Duration) Timing {
		return Timing{Duration: duration, RenewDeadline: deadline, RetryPeriod: retry, ApplyDuration: apply}
	}

	cases := map[string]struct {
		reason string
		t      Timing
		flag   string
	}{
		"Default":           {reason: "The defaults are allowed.", t: timing(time.Minute, 40*time.Second, 2*time.Second, 0)},
		"Apply":             {reason: "An apply may have a longer duration.", t: timing(time.Minute, 40*time.Second, 2*time.Second, 5*time.Minute)},
		"Shortest":          {reason: "These are the shortest values.", t: timing(2*time.Second, time.Second, 500*time.Millisecond, 0)},
		"LongestDeadline":   {reason: "A quarter of the duration is left to stop.", t: timing(12*time.Second, 9*time.Second, time.Second, 0)},
		"ShortDuration":     {reason: "A second is not enough for two requests.", t: timing(time.Second, time.Second, 500*time.Millisecond, 0), flag: "--lease-duration"},
		"PartOfSecond":      {reason: "The duration of a Lease is in whole seconds.", t: timing(2500*time.Millisecond, time.Second, 500*time.Millisecond, 0), flag: "--lease-duration"},
		"PartOfSecondApply": {reason: "The same is true of any duration.", t: timing(12*time.Second, 9*time.Second, time.Second, time.Minute+1), flag: "--lease-apply-duration"},
		"LongDeadline":      {reason: "A run that is interrupted too late cannot save its state.", t: timing(12*time.Second, 9*time.Second+1, time.Second, 0), flag: "--lease-renew-deadline"},
		"ShortDeadline":     {reason: "A request may take a second.", t: timing(10*time.Second, time.Second-1, 100*time.Millisecond, 0), flag: "--lease-renew-deadline"},
		"LongRetry":         {reason: "One attempt may fail.", t: timing(10*time.Second, 5*time.Second, 2500*time.Millisecond+1, 0), flag: "--lease-retry-period"},
		"NoRetry":           {reason: "A pause between attempts is necessary.", t: timing(10*time.Second, 5*time.Second, 0, 0), flag: "--lease-retry-period"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got string
			if err := tc.t.Validate(); err != nil {
				got, _, _ = strings.Cut(err.Error(), " ")
			}

			if diff := cmp.Diff(tc.flag, got); diff != "" {
				t.Errorf("%s\nflag that the error names: -want, +got:\n%s", tc.reason, diff)
			}

			if tc.flag != "" {
				return
			}

			for _, d := range []time.Duration{tc.t.Duration, tc.t.Longest()} {
				steps := []time.Duration{
					tc.t.deadline(d),
					tc.t.deadline(d) + tc.t.InterruptGrace(),
					tc.t.deadline(d) + tc.t.AbortLimit(),
					tc.t.fenced(d),
					d,
				}

				for i, step := range steps[1:] {
					if step-steps[i] < tc.t.rest()/10 {
						t.Errorf("%s\nno time between two steps of the end: %s", tc.reason, steps)
					}
				}
			}
		})
	}
}

func TestTimingInterruptGrace(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		t      Timing
		want   time.Duration
	}{
		"Default": {reason: "A run gets at most ten seconds.", t: Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second}, want: 10 * time.Second},
		"Long":    {reason: "It does not get more.", t: Timing{Duration: time.Hour, RenewDeadline: time.Minute}, want: 10 * time.Second},
		"Short":   {reason: "It gets half of the rest.", t: Timing{Duration: 8 * time.Second, RenewDeadline: 4 * time.Second}, want: 2 * time.Second},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, tc.t.InterruptGrace()); diff != "" {
				t.Errorf("%s\nInterruptGrace(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
