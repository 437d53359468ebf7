// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package periodic runs tasks at intervals.
package periodic

import (
	"context"
	"time"
)

// A Task does rounds at intervals. It is a manager.Runnable.
type Task struct {
	// Interval between the beginnings of two rounds. If it is not positive, the only round is the
	// one at once.
	Interval time.Duration

	// AtOnce says that the first round begins at once, not after an interval.
	AtOnce bool

	// Do does one round.
	Do func(ctx context.Context) error

	// Failed is called with the error of a round. It is nil if errors do not matter.
	Failed func(err error)
}

// Start does rounds until ctx is done. A round that is interrupted by that has not failed.
func (t Task) Start(ctx context.Context) error {
	if t.AtOnce {
		t.round(ctx)
	}

	// It is nil, and no round is due, if the interval is not positive.
	due := time.Tick(t.Interval)

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due:
			t.round(ctx)
		}
	}
}

func (t Task) round(ctx context.Context) {
	if err := t.Do(ctx); err != nil && ctx.Err() == nil && t.Failed != nil {
		t.Failed(err)
	}
}
