// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package wait waits in tests.
package wait

import (
	"context"
	"fmt"
	"time"
)

const (
	// Patience is how long anything may take that has to happen. It is far more than
	// anything takes: a machine may be slow, and a test that passes does not wait.
	Patience = 4 * time.Minute

	// Soon is the limit for an operation that would otherwise be blocked without limit.
	Soon = 30 * time.Second

	// Glance is the time between two checks.
	Glance = 50 * time.Millisecond
)

// Until waits until check returns nil.
func Until(ctx context.Context, limit time.Duration, check func() error) error {
	deadline := time.Now().Add(limit)

	for {
		err := check()
		if err == nil {
			return nil
		}

		if time.Now().After(deadline) {
			return fmt.Errorf("not within %s: %w", limit, err)
		}

		if For(ctx, Glance) != nil {
			return fmt.Errorf("not before the test ended: %w", err)
		}
	}
}

// UntilTrue waits until the condition is true. The words describe it in the error.
func UntilTrue(ctx context.Context, what string, condition func() bool) error {
	return Until(ctx, Patience, func() error {
		if condition() {
			return nil
		}

		return fmt.Errorf("it is not true that %s", what)
	})
}

// Within returns an error unless fn returns in time: it may be blocked for ever.
func Within(limit time.Duration, fn func()) error {
	done := make(chan struct{})

	go func() {
		defer close(done)

		fn()
	}()

	select {
	case <-done:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("it did not return within %s", limit)
	}
}

// For waits for some time.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
