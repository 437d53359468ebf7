// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxLinkTarget is longer than a path can be.
const maxLinkTarget = 8 << 10

// Zip unpacks a ZIP archive of the given size into root.
func Zip(root *os.Root, r io.ReaderAt, size int64, l Limits) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return errors.Wrap(err, "cannot read archive")
	}

	u := newUnpacker(root, l)
	for _, f := range archive.File {
		if err := u.zipEntry(f); err != nil {
			return err
		}
	}

	return nil
}

func (u *unpacker) zipEntry(f *zip.File) error {
	name, err := entryName(f.Name)
	if err != nil {
		return err
	}

	if f.Mode().IsDir() {
		return u.directory(name)
	}

	r, err := f.Open()
	if err != nil {
		return errors.Wrapf(err, "cannot read %q in archive", f.Name)
	}
	defer r.Close() //nolint:errcheck // It is only read from.

	switch f.Mode().Type() {
	case 0:
		return u.file(name, f.Mode(), r)
	case fs.ModeSymlink:
		target, err := io.ReadAll(io.LimitReader(r, maxLinkTarget))
		if err != nil {
			return errors.Wrapf(err, "cannot read %q in archive", f.Name)
		}

		return u.symlink(name, string(target))
	default:
		return errors.Errorf("entry %q is neither a file, a directory nor a link", f.Name)
	}
}
