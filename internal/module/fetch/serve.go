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
