// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
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

	p := &place{dir: dir, fetcher: NewFetcher(nil, Options{})}
	p.request = Request{Dir: dir, Env: environment(t)}
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

	return filesystem.Read(t, dir, ".git", ".crossplane.json")
}
