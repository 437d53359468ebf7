// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	getter "github.com/hashicorp/go-getter"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxLinkTarget is longer than a path can be.
const maxLinkTarget = 8 << 10

// A decompressor is a getter.Decompressor of archives of directories.
type decompressor func(u *unpacker, archive *os.File) error

// decompressors returns those of go-getter, but replaces the ones that make a directory. Those
// turn links into empty files, so that the CLI would destroy the resources that these declare.
// They make directories that cannot be removed, and trust the sizes that a ZIP archive declares.
func decompressors() map[string]getter.Decompressor {
	all := getter.LimitedDecompressors(maxEntries, maxUnpacked)

	all["zip"] = decompressor((*unpacker).zip)
	for suffix, decompress := range map[string]func(io.Reader) (io.Reader, error){
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
		".gz":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		".bz2": func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
		".xz":  func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) },
		".zst": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		all["tar"+suffix] = decompressor(func(u *unpacker, archive *os.File) error {
			r, err := decompress(archive)
			if err != nil {
				return fmt.Errorf("cannot decompress archive: %w", err)
			}

			return u.tar(r)
		})
	}

	for short, long := range map[string]string{"tgz": "tar.gz", "tbz2": "tar.bz2", "txz": "tar.xz", "tzst": "tar.zst"} {
		all[short] = all[long]
	}

	return all
}

// Decompress the archive src into the directory dst.
func (d decompressor) Decompress(dst, src string, _ bool, _ os.FileMode) error {
	archive, err := regular.Open(src)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // It is only read from.

	return unpackTo(dst, func(u *unpacker) error { return d(u, archive) })
}

// tar unpacks an uncompressed tape archive.
func (u *unpacker) tar(r io.Reader) error {
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()

		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read archive: %w", err)
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		}

		e := entry{name: h.Name, mode: h.FileInfo().Mode(), target: h.Linkname, hard: h.Typeflag == tar.TypeLink}
		if err := u.add(e, archive); err != nil {
			return err
		}
	}
}

// zip unpacks a ZIP archive.
func (u *unpacker) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}

	archive, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("cannot read archive: %w", err)
	}

	for _, f := range archive.File {
		if err := u.zipEntry(f); err != nil {
			return err
		}
	}

	return nil
}

func (u *unpacker) zipEntry(f *zip.File) error {
	e := entry{name: f.Name, mode: f.Mode()}
	if e.mode.IsDir() {
		return u.add(e, nil)
	}

	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("cannot read %q in archive: %w", f.Name, err)
	}
	defer r.Close() //nolint:errcheck // It is only read from.

	if e.mode.Type() == fs.ModeSymlink {
		target, err := io.ReadAll(io.LimitReader(r, maxLinkTarget))
		if err != nil {
			return fmt.Errorf("cannot read %q in archive: %w", f.Name, err)
		}

		e.target = string(target)
	}

	return u.add(e, r)
}

// directory copies a directory.
func (u *unpacker) directory(src *os.Root) error {
	return fs.WalkDir(src.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		// It could not be read, and no module can call it. The caller checks the names of files.
		case !utf8.ValidString(d.Name()) && d.IsDir():
			return fs.SkipDir
		}

		info, err := d.Info()
		if err != nil {
			return err
		}

		e := entry{name: name, mode: info.Mode()}

		if e.mode.Type() == fs.ModeSymlink {
			if e.target, err = src.Readlink(name); err != nil {
				return err
			}
		}

		if !e.mode.IsRegular() {
			return u.add(e, nil)
		}

		f, err := regular.OpenIn(src, name)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // It is only read from.

		return u.add(e, f)
	})
}
