// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
)

// TestUnpackDeclaredSize ensures that the declared size in a ZIP archive is ignored: this one is
// negative as an int64.
func TestUnpackDeclaredSize(t *testing.T) {
	t.Parallel()

	body := &bytes.Buffer{}

	deflate, err := flate.NewWriter(body, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := deflate.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}

	if err := deflate.Close(); err != nil {
		t.Fatal(err)
	}

	archive := &bytes.Buffer{}
	w := zip.NewWriter(archive)

	f, err := w.CreateRaw(&zip.FileHeader{Name: "main.tf", Method: zip.Deflate, CompressedSize64: uint64(body.Len()), UncompressedSize64: 1 << 63})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := f.Write(body.Bytes()); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	root := newRoot(t, filepath.Join(t.TempDir(), "root"))
	if err := unzip(t, root, archive.Bytes(), wide); err == nil {
		t.Error("zip of a file that is too long: want an error")
	}

	if n := dircache.Size(root.Name()); n > wide.bytes+1 {
		t.Errorf("zip: want at most %d bytes written, got %d", wide.bytes+1, n)
	}
}
