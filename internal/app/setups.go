// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync"
)

// Setups add controllers to a manager that runs, when their CRDs exist. The manager does not stop
// during one of them: if it stops while two runnables are added, the runnable groups of
// controller-runtime v0.25.2 may block for ever. The one that was added takes the read lock, for
// which a waiting writer, the stop, goes first, and that waits for the one to be added. Such an
// instance would have to be killed, and other instances would wait until its Lease expires.
type setups struct {
	mu      sync.Mutex
	stopped bool
}

// do calls setup unless the manager has to stop.
func (s *setups) do(setup func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.stopped {
		return nil
	}

	return setup()
}

// stopAfter returns the context of the manager. It is done after ctx is, as soon as no setup is in
// progress. From then on there are no others.
func (s *setups) stopAfter(ctx context.Context) (context.Context, context.CancelFunc) {
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))

	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()

		cancel()
	})

	return stop, cancel
}
