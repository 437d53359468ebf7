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
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

const testUID = "11111111-2222-3333-4444-555555555555"

type files = filesystem.Files

// A place is a working directory and the request for its module.
type place struct {
	dir     *workdir.Dir
	fetcher *Fetcher
	request Request
}

// newPlace returns a new working directory for the module at an address.
func newPlace(t *testing.T, address string) *place {
	t.Helper()

	root, err := workdir.Open(filepath.Join(t.TempDir(), `it's a "root"`), time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	dir, err := root.Dir(testUID)
	if err != nil {
		t.Fatal(err)
	}

	p := &place{dir: dir, fetcher: NewFetcher(nil, Options{Program: os.Args[0]})}
	p.request = Request{Dir: dir, CLI: &terraform.CLI{Product: terraform.Terraform}, Env: environment(t)}
	p.request.Parameters.Source = commonv1beta1.ModuleSourceRemote
	p.request.Parameters.Module = address

	return p
}

// environment returns the environment of programs: PATH of this machine, and nothing else of it.
func environment(t *testing.T, more ...string) []string {
	t.Helper()

	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, more...)
}

// ensure fetches the module, which has to succeed.
func (p *place) ensure(t *testing.T) string {
	t.Helper()

	address, err := p.fetcher.Ensure(t.Context(), p.request)
	if err != nil {
		t.Fatalf("Ensure(...): %v", err)
	}

	return address
}

// ensureFails fetches the module, which has to fail, and returns the message.
func (p *place) ensureFails(t *testing.T) string {
	t.Helper()

	_, err := p.fetcher.Ensure(t.Context(), p.request)
	if err == nil {
		t.Fatal("Ensure(...): want an error")
	}

	if msg := err.Error(); strings.ContainsAny(msg, "\n\r") || len(msg) > 2000 || strings.Contains(msg, p.dir.Path()) {
		t.Errorf("Ensure(...): want an error of one line that is the same every time, got %q", msg)
	}

	return err.Error()
}

// expect fails unless the directory has exactly these files, and no remains of a fetch.
func (p *place) expect(t *testing.T, want files) {
	t.Helper()

	if diff := cmp.Diff(want, content(t, p.dir.Path())); diff != "" {
		t.Errorf("files of the module: -want, +got:\n%s", diff)
	}
}

// identity of a file, which changes when the file is replaced.
func (p *place) identity(t *testing.T, name string) os.FileInfo {
	t.Helper()

	info, err := os.Lstat(filepath.Join(p.dir.Path(), name))
	if err != nil {
		t.Fatal(err)
	}

	return info
}

// content returns the files below dir, without the history of a repository and the record of the
// fetch.
func content(t *testing.T, dir string) files {
	t.Helper()

	return filesystem.Read(t, dir, ".git", "manifest.json")
}

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
