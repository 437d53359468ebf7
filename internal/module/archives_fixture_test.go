// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
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

// bzipped returns a .tar.bz2 with main.tf and a link to it. The standard library cannot write
// this format.
func bzipped(t *testing.T) []byte {
	t.Helper()

	b, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWbXk5DEAAI77gMmAAQBAAX+AACBhLx4ACAggAHQSUTQ0DTQ0NGmgkimgyaAAA+0URxANw8EkIun0YZyCE1IsCLCQOAy8myLgThgI5GiH2Mi2UtH3Q5vwuaxqNyiJnuttZworypU+VesRIPxdyRThQkLXk5DE")
	if err != nil {
		t.Fatal(err)
	}

	return b
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
