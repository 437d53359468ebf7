// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"fmt"
	"net/url"
	"os"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A fileGetter copies files. The getter of go-getter makes a symbolic link instead, but a
// downloaded module must not change until the next fetch.
type fileGetter struct {
	getter.FileGetter

	source *source
}

// Get copies a directory.
func (g *fileGetter) Get(dst string, u *url.URL) error {
	path, err := g.path(u)
	if err != nil {
		return err
	}
	// Opening a pipe would block.
	if info, err := os.Stat(path); err == nil && !info.IsDir() { //nolint:gosec // It may be any that is not private.
		return fmt.Errorf("cannot open %q: not a directory", path)
	}

	src, err := os.OpenRoot(path)
	if err != nil {
		return fmt.Errorf("cannot open directory: %w", err)
	}
	defer src.Close() //nolint:errcheck // It is only read from.

	return unpackTo(dst, func(u *unpacker) error { return u.directory(src) })
}

// GetFile copies a file, which is an archive to be unpacked.
func (g *fileGetter) GetFile(dst string, u *url.URL) error {
	path, err := g.path(u)
	if err != nil {
		return err
	}

	f, err := regular.Open(path)
	if err != nil {
		return err
	}

	_ = f.Close() // Nothing was written.

	return g.FileGetter.GetFile(dst, u)
}

// path returns the path of a file of this machine.
func (g *fileGetter) path(u *url.URL) (string, error) {
	path := u.Path
	if u.RawPath != "" {
		path = u.RawPath
	}

	return path, g.source.checkPath(path)
}
