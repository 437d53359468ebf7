// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package background runs functions in the background of a test.
package background

import (
	"context"
	"sync"
	"testing"
)

// Run runs functions in the background until the returned function is called, or to the
// end of the test. Either ends their context and waits for them. The test fails if one of
// them returns an error.
func Run(t *testing.T, run ...func(context.Context) error) func() {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())

	var wg sync.WaitGroup

	for _, fn := range run {
		wg.Go(func() {
			if err := fn(ctx); err != nil {
				t.Error(err)
			}
		})
	}

	stop := func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(stop)

	return stop
}
