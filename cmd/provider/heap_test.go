// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

func TestGCPercent(t *testing.T) {
	for live, want := range map[uint64]int{
		0:              100,
		5 << 20:        100,
		10 << 20:       50,
		25 << 20:       20,
		1 << 30:        20,
		math.MaxUint64: 20,
	} {
		if got := gcPercent(live); got != want {
			t.Errorf("gcPercent(%d) = %d, want %d", live, got, want)
		}
	}
}

func TestTuneGC(t *testing.T) {
	tuneGC()

	held := make([]byte, 10*minGrowth)

	waitForGCPercent(t, "the least", func(percent uint64) bool { return percent == minPercent })
	runtime.KeepAlive(held)
	waitForGCPercent(t, "more than the least", func(percent uint64) bool { return percent > minPercent })
}

// waitForGCPercent collects garbage until the percentage is as wanted.
func waitForGCPercent(t *testing.T, what string, wanted func(percent uint64) bool) {
	t.Helper()

	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}

	err := wait.Until(t.Context(), wait.Soon, func() error {
		runtime.GC()
		metrics.Read(percent)

		if got := percent[0].Value.Uint64(); !wanted(got) {
			return fmt.Errorf("GC percent: got %d, want %s", got, what)
		}

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
