// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package unpack

import (
	"archive/tar"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Tar unpacks a tape archive, already decompressed, into root.
func Tar(root *os.Root, r io.Reader, l Limits) error {
	u := newUnpacker(root, l)

	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return errors.Wrap(err, "cannot read archive")
		}

		if err := u.tarEntry(h, archive); err != nil {
			return err
		}
	}
}

func (u *unpacker) tarEntry(h *tar.Header, r io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}

	name, err := entryName(h.Name)
	if err != nil {
		return err
	}

	switch h.Typeflag {
	case tar.TypeDir:
		return u.directory(name)
	case tar.TypeReg:
		return u.file(name, h.FileInfo().Mode(), r)
	case tar.TypeSymlink:
		return u.symlink(name, h.Linkname)
	case tar.TypeLink:
		target, err := entryName(h.Linkname)
		if err != nil {
			return err
		}

		return u.link(name, target)
	default:
		return errors.Errorf("entry %q is neither a file, a directory nor a link", h.Name)
	}
}
