// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// tarball returns the files as a .tar.
func tarball(t *testing.T, f files) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	w := tar.NewWriter(b)

	for _, name := range slices.Sorted(maps.Keys(f)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(f[name]))}
		if target, ok := strings.CutPrefix(f[name], "-> "); ok {
			h = &tar.Header{Typeflag: tar.TypeSymlink, Name: name, Mode: 0o777, Linkname: target}
		}

		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}

		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, f[name]); err != nil {
				t.Fatal(err)
			}
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// gzipped returns the files as a .tar.gz.
func gzipped(t *testing.T, f files) []byte {
	t.Helper()

	return compressed(t, f, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

// compressed returns the files as a .tar, compressed.
func compressed(t *testing.T, f files, compress func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()

	b := &bytes.Buffer{}

	w, err := compress(b)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := w.Write(tarball(t, f)); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// zipped returns the files as a .zip.
func zipped(t *testing.T, f files) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	w := zip.NewWriter(b)

	for name, content := range f {
		h := &zip.FileHeader{Name: name}
		h.SetMode(0o644)

		if target, ok := strings.CutPrefix(content, "-> "); ok {
			content = target

			h.SetMode(0o777 | os.ModeSymlink)
		}

		e, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := io.WriteString(e, content); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}
