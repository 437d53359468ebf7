// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxMemory limits the memory of the process, and that of each program that it starts, such as git.
// The header of an archive may ask for several GiB, and the process shares the memory of the
// container with the provider.
const maxMemory = 1 << 30

// outOfMemory matches how the Go runtime, and its race detector, say that they get no memory.
var outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory|failed to create new OS thread|ThreadSanitizer failed to allocate`)

// Serve is the other side of Run: it reads the request from stdin, lets get handle it, and answers
// on stdout. If handled is true, the process must exit with the returned code. Otherwise args, the
// arguments of the process, do not ask for a fetch.
func Serve(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, get func(context.Context, Request) (Result, error)) (handled bool, code int) {
	if len(args) != 2 || args[1] != command {
		return false, 0
	}

	endTogether()
	limitMemory()

	a := answer{}
	r := Request{}

	err := json.NewDecoder(stdin).Decode(&r)
	if err == nil {
		err = r.makeDirs()
	}

	if err == nil {
		a.Result, err = get(ctx, r)
	}

	if err != nil {
		a.Error = said(err)
	}

	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return true, 1
	}

	return true, 0
}

// endTogether makes SIGTERM end git as well. This process gets SIGTERM when its parent dies.
func endTogether() {
	terminated := make(chan os.Signal, 1)

	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated

		_ = unix.Kill(0, unix.SIGKILL)
	}()
}

// makeDirs makes the directories that the environment names.
func (r Request) makeDirs() error {
	for _, dir := range []string{tempDir, homeDir} {
		if err := os.MkdirAll(filepath.Join(r.Dir, dir), 0o700); err != nil {
			return err
		}
	}

	return nil
}

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
