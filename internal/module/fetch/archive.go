// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"compress/bzip2"
	"compress/gzip"
	"io"
	"os"

	getter "github.com/hashicorp/go-getter"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/module/unpack"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// decompressors returns those of go-getter. The ones that make a directory are
// replaced: they know no symbolic links, and make empty files of them.
func decompressors() map[string]getter.Decompressor {
	l := limits()
	d := getter.LimitedDecompressors(l.Entries, l.Bytes)
	replace := func(unpack func(*os.Root, *os.File) error, names ...string) {
		for _, name := range names {
			d[name] = &unpacker{Decompressor: d[name], unpack: unpack}
		}
	}
	replace(unzip, "zip")
	replace(tarOf(plain), "tar")
	replace(tarOf(gunzip), "tar.gz", "tgz")
	replace(tarOf(func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }), "tar.bz2", "tbz2")
	replace(tarOf(func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) }), "tar.xz", "txz")
	replace(tarOf(func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }), "tar.zst", "tzst")

	return d
}

// An unpacker is a getter.Decompressor.
type unpacker struct {
	getter.Decompressor

	unpack func(dst *os.Root, archive *os.File) error
}

// Decompress the archive src into the directory dst.
func (u *unpacker) Decompress(dst, src string, dir bool, umask os.FileMode) error {
	if !dir {
		return u.Decompressor.Decompress(dst, src, dir, umask)
	}

	archive, err := regular.Open(src)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // It is only read from.

	return unpackInto(dst, archive, u.unpack)
}

// unpackInto makes the directory dst and unpacks the archive there.
func unpackInto(dst string, archive *os.File, fn func(*os.Root, *os.File) error) error {
	if err := os.MkdirAll(dst, 0o700); err != nil {
		return err
	}

	root, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Every file written through it was closed and checked.

	return fn(root, archive)
}

// tarOf returns the decompressor of a compressed tape archive.
func tarOf(decompress func(io.Reader) (io.Reader, error)) func(*os.Root, *os.File) error {
	return func(root *os.Root, archive *os.File) error {
		r, err := decompress(archive)
		if err != nil {
			return errors.Wrap(err, "cannot decompress archive")
		}

		return unpack.Tar(root, r, limits())
	}
}

func plain(r io.Reader) (io.Reader, error) { return r, nil }

func gunzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

func unzip(root *os.Root, archive *os.File) error {
	info, err := archive.Stat()
	if err != nil {
		return err
	}

	return unpack.Zip(root, archive, info.Size(), limits())
}
