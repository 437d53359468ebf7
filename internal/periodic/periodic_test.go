// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package periodic

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTask(t *testing.T) {
	t.Parallel()

	type want struct {
		Rounds []time.Duration
		Failed int
	}

	errBoom := errors.New("boom")

	cases := map[string]struct {
		reason string
		task   Task
		err    error
		want   want
	}{
		"Later":   {reason: "The first round is after an interval.", task: Task{Interval: time.Minute}, want: want{Rounds: []time.Duration{time.Minute, 2 * time.Minute}}},
		"AtOnce":  {reason: "The first round is at once.", task: Task{Interval: time.Minute, AtOnce: true}, want: want{Rounds: []time.Duration{0, time.Minute, 2 * time.Minute}}},
		"Once":    {reason: "Without an interval there is one round.", task: Task{AtOnce: true}, want: want{Rounds: []time.Duration{0}}},
		"Never":   {reason: "Without an interval there are no rounds.", task: Task{}},
		"Failing": {reason: "The next round tries again.", task: Task{Interval: time.Minute}, err: errBoom, want: want{Rounds: []time.Duration{time.Minute, 2 * time.Minute}, Failed: 2}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
				defer cancel()

				begin, got := time.Now(), want{}
				tc.task.Do = func(context.Context) error {
					got.Rounds = append(got.Rounds, time.Since(begin))

					return tc.err
				}
				tc.task.Failed = func(error) { got.Failed++ }

				if err := tc.task.Start(ctx); err != nil {
					t.Fatal(err)
				}

				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nStart(...): -want, +got:\n%s", tc.reason, diff)
				}

				if ended := time.Since(begin); ended != 150*time.Second {
					t.Errorf("it ended after %s", ended)
				}
			})
		})
	}
}

// TestInterrupted ensures that an interrupted round has not failed, and that Failed is optional.
func TestInterrupted(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	do := func(ctx context.Context) error {
		cancel()

		return ctx.Err()
	}

	if err := (Task{AtOnce: true, Do: do, Failed: func(err error) { t.Error(err) }}).Start(ctx); err != nil {
		t.Error(err)
	}

	if err := (Task{AtOnce: true, Do: func(context.Context) error { return errors.New("boom") }}).Start(ctx); err != nil {
		t.Error(err)
	}
}
