// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"io/fs"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// Directory copies the content of src into root.
func Directory(root, src *os.Root, l Limits) error {
	u := newUnpacker(root, l)

	return fs.WalkDir(src.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}

		return u.copyEntry(src, name, e.Type())
	})
}

func (u *unpacker) copyEntry(src *os.Root, name string, kind fs.FileMode) error {
	switch kind {
	case fs.ModeDir:
		return u.directory(name)
	case fs.ModeSymlink:
		target, err := src.Readlink(name)
		if err != nil {
			return err
		}

		return u.symlink(name, target)
	case 0:
		f, err := regular.OpenIn(src, name)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // It is only read from.

		info, err := f.Stat()
		if err != nil {
			return err
		}

		return u.file(name, info.Mode(), f)
	default:
		return errors.Errorf("%q is neither a file, a directory nor a link", name)
	}
}
