// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// glance is the time between two checks of a condition.
const glance = 250 * time.Millisecond

// An expectation is something that the demo shows. It is met if check returns nil in time.
type expectation struct {
	title  string
	within time.Duration

	// check brings it about or waits for it, or both. It returns soon after its
	// context has ended.
	check func(ctx context.Context) error

	table bool
}

// meet runs the check and shows its result on the screen. The error names the expectation. If the
// supplied context ends first, the error is the cause of that.
func (e expectation) meet(ctx context.Context, s *screen) error {
	limited, cancel := context.WithTimeoutCause(ctx, e.within, errors.Errorf("not within %s", e.within))
	defer cancel()

	s.begin(e.title)

	err := e.check(limited)
	if err == nil {
		s.end(green, "✓")

		if e.table {
			s.showNow()
		}

		return nil
	}

	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}

	// An interruption is not a failure: the expectation could still have been met.
	if errors.Is(err, errInterrupted) {
		s.end(yellow, "-")

		return err
	}

	s.end(red, "✗")

	return errors.Wrapf(err, "not seen: %s", e.title)
}

// until calls condition until it returns nil, and passes its errors to progress. If the context
// ends first, the error has the cause of that and the last error of condition.
func until(ctx context.Context, progress func(string), condition func(ctx context.Context) error) error {
	last := errors.New("no answer")

	for {
		err := condition(ctx)
		if err == nil {
			return nil
		}

		// An error after the end of the context is about that end.
		if ctx.Err() == nil {
			last = err
			progress(err.Error())
		}

		if ended := wait.For(ctx, glance); ended != nil {
			return errors.Wrap(last, ended.Error())
		}
	}
}
