// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// maxMemory limits the memory of the process, and that of each program that it starts, such as git.
// The header of an archive may ask for several GiB, and the process shares the memory of the
// container with the provider.
const maxMemory = 1 << 30

// outOfMemory matches how the Go runtime, and its race detector, say that they get no memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|failed to create new OS thread|ThreadSanitizer failed to allocate`)

// limitMemory limits the memory that this process uses from now on.
func limitMemory() {
	debug.SetMemoryLimit(maxMemory / 4 * 3) // Garbage is collected in time.

	limit := dataSize() + maxMemory
	// It fails only if the limit is lower already.
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit})
}

// dataSize returns the memory that the limit counts now, zero if that is unknown. The race
// detector reserves terabytes.
func dataSize() uint64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}

	var size, resident, shared, text, lib, data uint64
	if _, err := fmt.Sscan(string(statm), &size, &resident, &shared, &text, &lib, &data); err != nil {
		return 0
	}

	return data * uint64(os.Getpagesize()) //nolint:gosec // It is positive.
}
