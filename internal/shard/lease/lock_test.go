// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
			t:      Timing{Duration: time.Minute, RenewDeadline: 50 * time.Second, RetryPeriod: 2 * time.Second},
		},
		"Shortest": {
			reason: "That is as short as it gets.",
			t:      Timing{Duration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
		},
		"LongestDeadline": {
			reason: "A tenth is left to stop in.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: 9 * time.Second, RetryPeriod: time.Second},
		},
		"ShortDuration": {
			reason: "A second is not enough for two requests.",
			t:      Timing{Duration: time.Second, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
			flag:   "--lease-duration",
		},
		"PartOfSecond": {
			reason: "A Lease counts in whole seconds.",
			t:      Timing{Duration: 2500 * time.Millisecond, RenewDeadline: time.Second, RetryPeriod: 500 * time.Millisecond},
			flag:   "--lease-duration",
		},
		"LongDeadline": {
			reason: "Who gives up when the Lease expires has given up too late.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: 9*time.Second + 1, RetryPeriod: time.Second},
			flag:   "--lease-renew-deadline",
		},
		"ShortDeadline": {
			reason: "A request may take a second.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: time.Second - 1, RetryPeriod: 100 * time.Millisecond},
			flag:   "--lease-renew-deadline",
		},
		"LongRetry": {
			reason: "One try may fail.",
			t:      Timing{Duration: 10 * time.Second, RenewDeadline: 5 * time.Second, RetryPeriod: 2500*time.Millisecond + 1},
			flag:   "--lease-retry-period",
		},
		"NoRetry": {
			reason: "Without a pause nothing else gets done.",
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

			if tc.flag == "" && tc.t.fenced() >= tc.t.Duration {
				t.Errorf("%s\nfence after %s: not earlier than others may take the Lease", tc.reason, tc.t.fenced())
			}

			if tc.flag == "" && tc.t.fenced() <= tc.t.RenewDeadline {
				t.Errorf("%s\nfence after %s: an instance that gives up in time is killed", tc.reason, tc.t.fenced())
			}
		})
	}
}

// A recorder is both a fence and what a Lease is kept in. Time passes with each
// request.
type recorder struct {
	resourcelock.Interface

	now      time.Duration
	armed    time.Duration
	writeErr error
	nowErr   error
}

func (r *recorder) Identity() string { return me }

func (r *recorder) Create(context.Context, resourcelock.LeaderElectionRecord) error {
	return r.write()
}

func (r *recorder) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return r.write()
}

func (r *recorder) write() error {
	r.now += time.Minute

	return r.writeErr
}

func (r *recorder) Now() (time.Duration, error) { return r.now, r.nowErr }

func (r *recorder) Arm(at time.Duration) error {
	r.armed = at

	return nil
}

func (r *recorder) Disarm() error {
	r.armed = 0

	return nil
}

func TestLock(t *testing.T) {
	t.Parallel()

	const (
		now   = time.Hour
		after = 10 * time.Second
		// before is what the fence was armed for by an earlier renewal.
		before = now + time.Second
	)

	errBoom := errors.New("boom")

	cases := map[string]struct {
		reason string
		do     func(ctx context.Context, l *Lock) error
		r      recorder
		want   time.Duration
		err    error
	}{
		"Create": {
			reason: "Who gets a Lease is fenced, from the moment before others could see it.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Create(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: me})
			},
			r:    recorder{now: now},
			want: now + after,
		},
		"Renew": {
			reason: "The fence is put off, from the moment before others could see the renewal.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: me})
			},
			r:    recorder{now: now, armed: before},
			want: now + after,
		},
		"RenewFails": {
			reason: "What may not have been renewed puts off nothing.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: me})
			},
			r:    recorder{now: now, armed: before, writeErr: errBoom},
			want: before,
			err:  errBoom,
		},
		"NoClock": {
			reason: "Who cannot tell the time cannot be fenced, and must not hold the Lease.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: me})
			},
			r:    recorder{now: now, armed: before, nowErr: errBoom, writeErr: errors.New("written without knowing the time")},
			want: before,
			err:  errBoom,
		},
		"Release": {
			reason: "Who has released the Lease has stopped, and may take its time to end.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Update(ctx, resourcelock.LeaderElectionRecord{})
			},
			r: recorder{now: now, armed: before},
		},
		"ReleaseFails": {
			reason: "Others may still take it for the holder.",
			do: func(ctx context.Context, l *Lock) error {
				return l.Update(ctx, resourcelock.LeaderElectionRecord{})
			},
			r:    recorder{now: now, armed: before, writeErr: errBoom},
			want: before,
			err:  errBoom,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := tc.do(t.Context(), &Lock{Interface: &tc.r, fence: &tc.r, after: after, holders: &holders{}})
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want error, +got error:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, tc.r.armed); diff != "" {
				t.Errorf("%s\nfence is armed for: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLockPredecessors(t *testing.T) {
	t.Parallel()

	const other = "host-1_1f33"

	errBoom := errors.New("boom")

	// read the Lease while somebody holds it, and write it, which may fail.
	read := func(holder, hosts string) func(ctx context.Context, l *Lock, r *recorder) {
		return func(_ context.Context, l *Lock, _ *recorder) { l.holders.read(leaseOf(holder, hosts)) }
	}
	write := func(holder string, err error) func(ctx context.Context, l *Lock, r *recorder) {
		return func(ctx context.Context, l *Lock, r *recorder) {
			r.writeErr = err
			_ = l.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: holder})
		}
	}

	cases := map[string]struct {
		reason string
		steps  []func(ctx context.Context, l *Lock, r *recorder)
		want   []string
		held   bool
	}{
		"NotHeld": {
			reason: "It is still held by another one.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, "")},
		},
		"New": {
			reason: "Nobody has ever held it.",
			steps:  []func(context.Context, *Lock, *recorder){read("", ""), write(me, nil)},
			held:   true,
		},
		"Dead": {
			reason: "It was taken from one that did not give it back, and signed nothing.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, ""), write(me, nil)},
			want:   []string{"host-1"},
			held:   true,
		},
		"GivenBack": {
			reason: "Who gave it back, and who was there before, may have left locks, too.",
			steps:  []func(context.Context, *Lock, *recorder){read("", "host-1,host-2"), write(me, nil)},
			want:   []string{"host-1", "host-2"},
			held:   true,
		},
		"GivenBackLate": {
			reason: "It was given back while this one waited.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, "host-1"), read("", "host-1"), write(me, nil)},
			want:   []string{"host-1"},
			held:   true,
		},
		"Renewed": {
			reason: "What comes later does not change who was there before.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, ""), write(me, nil), read(me, "host-0,host-1"), write(me, nil)},
			want:   []string{"host-1"},
			held:   true,
		},
		"AnswerLost": {
			reason: "It was taken although that seemed to have failed.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, ""), write(me, errBoom), read(me, "host-0"), write(me, nil)},
			want:   []string{"host-1"},
			held:   true,
		},
		"Failed": {
			reason: "It was not taken.",
			steps:  []func(context.Context, *Lock, *recorder){read(other, ""), write(me, errBoom)},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &recorder{}
			l := &Lock{Interface: r, fence: r, holders: &holders{identity: me}}

			for _, step := range tc.steps {
				step(t.Context(), l, r)
			}

			got, since := l.Predecessors()
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nPredecessors(): -want, +got:\n%s", tc.reason, diff)
			}

			if tc.held == since.IsZero() {
				t.Errorf("%s\nPredecessors(): since %s, held: %t", tc.reason, since, tc.held)
			}
		})
	}
}

func TestNewIdentity(t *testing.T) {
	t.Parallel()

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	seen := map[string]bool{}

	for range 2 {
		id, err := NewIdentity()
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(host, HostOf(id)); diff != "" {
			t.Errorf("HostOf(%q): -want, +got:\n%s", id, diff)
		}

		if seen[id] {
			t.Errorf("NewIdentity(): %q twice", id)
		}

		seen[id] = true
	}
}
