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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/module/unpack"
)

// Limits of a module. A module has some kilobytes; one far beyond these limits was made
// to do harm. Downloads by git, S3 and the like are not limited.
const (
	maxDownload = 1 << 30
	maxEntries  = 200_000
	maxUnpacked = 4 << 30
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
		a.Revision, err = fetch(ctx, r)
	}

	switch {
	case errors.Is(err, errUnchanged):
		a.Unchanged = true
	case err != nil:
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

// fetch the module of the request, and return its revision.
func fetch(ctx context.Context, r Request) (string, error) {
	for _, dir := range []string{tempDir, homeDir} {
		if err := os.MkdirAll(filepath.Join(r.Dir, dir), 0o700); err != nil {
			return "", err
		}
	}

	revision, err := get(ctx, r)
	if errors.Is(err, errLost) {
		if err := os.RemoveAll(filepath.Join(r.Dir, moduleDir)); err != nil {
			return "", err
		}

		r.Store = nil
		revision, err = get(ctx, r)
	}

	if err != nil {
		return "", err
	}

	root, err := os.OpenRoot(filepath.Join(r.Dir, moduleDir))
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	return revision, unpack.Check(root)
}

func get(ctx context.Context, r Request) (string, error) {
	s := newStore(r.Store)
	defer s.release()

	if r.Artifact != nil {
		return r.Artifact.Digest, getArtifact(ctx, *r.Artifact, r.Dir, s)
	}

	return getAddress(ctx, r, s)
}

func limits() unpack.Limits {
	return unpack.Limits{Entries: maxEntries, Bytes: maxUnpacked}
}
