// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package background runs something beside a test.
package background

import (
	"context"
	"sync"
	"testing"
)

// Run something beside the test until the returned function is called, or to the end of
// the test. Either waits for it, and the test fails if it ends with an error.
func Run(t *testing.T, run func(context.Context) error) func() {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() { ended <- run(ctx) }()

	stop := sync.OnceFunc(func() {
		cancel()

		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)

	return stop
}
