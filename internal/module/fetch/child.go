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

// Main fetches a module if args, those of the process, ask for that. It reads the request
// from stdin and answers on stdout. If it has handled the process, the process has to end
// with the returned code. It is called before anything else is done, by main and by the
// TestMain of every test that fetches.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (handled bool, code int) {
	if len(args) != 2 || args[1] != command {
		return false, 0
	}

	endTogether()

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

// endTogether makes SIGTERM, which this process gets when the one that started it
// dies, end git as well.
func endTogether() {
	terminated := make(chan os.Signal, 1)

	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated

		_ = unix.Kill(0, unix.SIGKILL)
	}()
}

// fetch what the request asks for.
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
