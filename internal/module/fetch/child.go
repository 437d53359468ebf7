// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main fetches a module if args, the arguments of the process, ask for it. It reads the request
// from stdin and answers on stdout. If handled is true, the process must exit with the returned
// code. main, and the TestMain of every test that fetches, call Main before anything else.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (handled bool, code int) {
	if len(args) != 2 || args[1] != command {
		return false, 0
	}

	endTogether()
	limitMemory()

	a := answer{}
	r := Request{}

	err := json.NewDecoder(stdin).Decode(&r)
	if err == nil {
		a.Result, err = fetch(ctx, r)
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

// fetch handles the request.
func fetch(ctx context.Context, r Request) (Result, error) {
	for _, dir := range []string{tempDir, homeDir} {
		if err := os.MkdirAll(filepath.Join(r.Dir, dir), 0o700); err != nil {
			return Result{}, err
		}
	}

	dst := filepath.Join(r.Dir, moduleDir)
	if a := r.Artifact; a != nil {
		return Result{Dir: dst, Source: a.URL, Revision: a.Digest}, getArtifact(ctx, *a, r.Dir, dst)
	}

	return getAddress(ctx, r, dst)
}
