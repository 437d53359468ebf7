// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// patience is how long anything may take that has to happen. It is far more than
	// anything takes: a machine may be slow, and a test that passes does not wait.
	patience = 2 * time.Minute

	// glance is the time between two looks.
	glance = 50 * time.Millisecond
)

// until waits until check returns nil.
func until(ctx context.Context, limit time.Duration, check func() error) error {
	deadline := time.Now().Add(limit)

	for {
		err := check()
		if err == nil {
			return nil
		}

		if time.Now().After(deadline) {
			return errors.Wrapf(err, "not within %s", limit)
		}

		if wait(ctx, glance) != nil {
			return errors.Wrap(err, "not before the test ended")
		}
	}
}

// wait waits for some time.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
