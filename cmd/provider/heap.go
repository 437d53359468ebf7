// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap may grow by minGrowth bytes between two garbage collections, or by minPercent of the
// live heap if that is more.
//
// With Go's default of 100, the largest RSS of an instance with 10,000 Workspaces is 50 MB more than with
// 20. But with 20, an instance with few Workspaces collects after each 2 MB: a poll costs it 8 ms of CPU
// time instead of 6 ms. With a growth of 10 MiB, no poll is cheaper, and the largest RSS of that instance
// is 15 MB more (make bench).
const (
	minGrowth  = 5 << 20
	minPercent = 20
)

// tuneGC sets the percentage of garbage collection now and after each collection.
func tuneGC() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(gcPercent(live[0].Value.Uint64()))

	// The next collection frees the sample.
	runtime.AddCleanup(&live[0], func(struct{}) { tuneGC() }, struct{}{})
}

// gcPercent returns the percentage for a live heap of that many bytes.
func gcPercent(live uint64) int {
	return int(max(minPercent, 100*minGrowth/max(live, minGrowth))) //nolint:gosec // It is at most 100.
}
