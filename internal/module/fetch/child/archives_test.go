// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// limits of an unpacker.
type limits struct {
	entries int
	bytes   int64
}

// wide are limits that no test reaches.
var wide = limits{1000, 1 << 20} //nolint:gochecknoglobals // It is a constant.

func untar(root *os.Root, data []byte, l limits) error {
	u := &unpacker{root: root, maxEntries: l.entries, maxBytes: l.bytes}

	return u.tar(bytes.NewReader(data))
}

func unzip(t *testing.T, root *os.Root, data []byte, l limits) error {
	t.Helper()

	path := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	archive, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()

	u := &unpacker{root: root, maxEntries: l.entries, maxBytes: l.bytes}

	return u.zip(archive)
}

func copyDirectory(root, src *os.Root, l limits) error {
	u := &unpacker{root: root, maxEntries: l.entries, maxBytes: l.bytes}

	return u.directory(src)
}

// A packed entry is an entry of an archive to be made.
type packed struct {
	kind          byte
	name, content string
	mode          int64
}

func file(name, content string) packed { return packed{tar.TypeReg, name, content, 0o644} }

func link(name, target string) packed { return packed{tar.TypeSymlink, name, target, 0o777} }

func hard(name, target string) packed { return packed{tar.TypeLink, name, target, 0o644} }

func dir(name string, mode int64) packed { return packed{tar.TypeDir, name, "", mode} }

func newRoot(t *testing.T, path string) *os.Root {
	t.Helper()

	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}

	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { root.Close() })

	return root
}

func addToTar(w *tar.Writer, e packed) error {
	h := &tar.Header{Typeflag: e.kind, Name: e.name, Mode: e.mode}
	switch e.kind {
	case tar.TypeXGlobalHeader:
		h = &tar.Header{Typeflag: e.kind, Name: e.name, PAXRecords: map[string]string{"comment": "c"}}
	case tar.TypeSymlink, tar.TypeLink:
		h.Linkname = e.content
	case tar.TypeReg:
		h.Size = int64(len(e.content))
	}

	if err := w.WriteHeader(h); err != nil {
		return err
	}

	if e.kind != tar.TypeReg {
		return nil
	}

	_, err := w.Write([]byte(e.content))

	return err
}

func makeTar(t *testing.T, entries []packed) []byte {
	t.Helper()

	b := &bytes.Buffer{}

	w := tar.NewWriter(b)
	for _, e := range entries {
		if err := addToTar(w, e); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

func makeZip(t *testing.T, entries []packed) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	w := zip.NewWriter(b)

	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		mode := (&tar.Header{Typeflag: e.kind, Mode: e.mode}).FileInfo().Mode()
		h.SetMode(mode)

		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}

		if e.kind == tar.TypeDir {
			continue
		}

		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// content returns the files below dir, with their permissions in front. An arrow marks the target
// of a link.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()

	got := filesystem.Read(t, dir)
	for name, data := range got {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		if info.Mode().IsRegular() {
			got[name] = info.Mode().String() + " " + data
		}
	}

	return got
}
