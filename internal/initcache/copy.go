// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// providersDir, in dataDir, has the programs of providers, or links to them.
	providersDir = "providers"

	// selectionName, in dataDir, is the file with the selected workspace.
	selectionName = "environment"
)

// copyTree copies the result of init. The programs of providers become hard links where possible:
// they are large, and are never written to. check gets the path and target of each link, and may
// refuse it.
func copyTree(src, dst string, check func(path, target string) error) error {
	return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}

		to := filepath.Join(dst, rel)

		switch {
		case rel == selectionName:
			return nil
		case e.IsDir():
			return os.Mkdir(to, 0o700)
		case e.Type() == fs.ModeSymlink:
			return copyLink(path, to, check)
		case !e.Type().IsRegular():
			return fmt.Errorf("cannot copy %q, which is neither a file nor a directory", path)
		case strings.HasPrefix(rel, providersDir+"/") && os.Link(path, to) == nil: //nolint:gosec // No run uses either directory.
			return nil
		default:
			return copyFile(path, to)
		}
	})
}

func copyLink(path, to string, check func(path, target string) error) error {
	target, err := os.Readlink(path)
	if err != nil {
		return err
	}

	if err := check(path, target); err != nil {
		return err
	}

	return os.Symlink(target, to)
}

// copyFile copies a file to a path that does not exist. No other user may read it: it may
// contain secrets.
func copyFile(path, to string) error {
	src, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // It is only read from.

	info, err := src.Stat()
	if err != nil {
		return err
	}

	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()&0o100|0o600) //nolint:gosec // See above.
	if err != nil {
		return err
	}

	_, err = io.Copy(dst, src)

	return errors.Join(err, dst.Close())
}
