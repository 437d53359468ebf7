// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimingValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		t      Timing
		flag   string
	}{
		"Default": {
			reason: "The defaults are allowed.",
			t:      Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 2 * time.Second},
		},
		"Apply": {
			reason: "An apply may have a longer duration.",
			t:      Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 2 * time.Second, ApplyDuration: 5 * time.Minute},
		},
		"Shortest": {
			reason: "These are the shortest values.",
			t:      Timing{Duration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
		},
		"LongestDeadline": {
			reason: "A quarter of the duration is left to stop.",
			t:      Timing{Duration: 12 * time.Second, RenewDeadline: 9 * time.Second, RetryPeriod: time.Second},
		},
		"ShortDuration": {
			reason: "A second is not enough for two requests.",
			t:      Timing{Duration: time.Second, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
			flag:   "--lease-duration",
		},
		"PartOfSecond": {
			reason: "The duration of a Lease is in whole seconds.",
			t:      Timing{Duration: 2500 * time.Millisecond, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
			flag:   "--lease-duration",
		},
		"PartOfSecondApply": {
			reason: "The same is true of any duration.",
			t:      Timing{Duration: 12 * time.Second, RenewDeadline: 9 * time.Second, RetryPeriod: time.Second, ApplyDuration: time.Minute + 1},
			flag:   "--lease-apply-duration",
		},
		"LongDeadline": {
			reason: "A run that is interrupted too late cannot save its state.",
			t:      Timing{Duration: 12 * time.Second, RenewDeadline: 9*time.Second + 1, RetryPeriod: time.Second},
			flag:   "--lease-renew-deadline",
		},
		"ShortDeadline": {
			reason: "A request may take a second.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: time.Second - 1, RetryPeriod: 100 * time.Millisecond},
			flag:   "--lease-renew-deadline",
		},
		"LongRetry": {
			reason: "One attempt may fail.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: 2500*time.Millisecond + 1},
			flag:   "--lease-retry-period",
		},
		"NoRetry": {
			reason: "A pause between attempts is necessary.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: 5 * time.Second},
			flag:   "--lease-retry-period",
		},
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
		"Default": {
			reason: "A run gets at most ten seconds.",
			t:      Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second},
			want:   10 * time.Second,
		},
		"Long": {
			reason: "It does not get more.",
			t:      Timing{Duration: time.Hour, RenewDeadline: time.Minute},
			want:   10 * time.Second,
		},
		"Short": {
			reason: "It gets half of the rest.",
			t:      Timing{Duration: 8 * time.Second, RenewDeadline: 4 * time.Second},
			want:   2 * time.Second,
		},
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
