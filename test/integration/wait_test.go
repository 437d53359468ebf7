// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"
)

const (
	// patience is how long a test waits for an event. It is far more than anything needs
	// on a slow machine. A test that passes does not wait that long.
	patience = 4 * time.Minute

	// glance is the time between the first two checks. It grows up to pause. Each check costs the
	// API server and the test some milliseconds of CPU time, which all tests share.
	glance = 50 * time.Millisecond
	pause  = 800 * time.Millisecond
)

// eventually waits until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	within(t, patience, check)
}

// within waits until check returns nil, and fails the test when that takes longer
// than the supplied time.
func within(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()

	deadline := time.NewTimer(limit)
	defer deadline.Stop()

	for next := glance; ; next = min(next*3/2, pause) {
		err := check()
		if err == nil {
			return
		}

		select {
		case <-deadline.C:
			t.Fatalf("not within %s: %v", limit, err)
		case <-t.Context().Done():
			t.Fatalf("not before the test ended: %v", err)
		case <-time.After(next):
		}
	}
}
