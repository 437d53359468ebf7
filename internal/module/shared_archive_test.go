// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestSharedHTTP ensures that an archive is downloaded once for all who want it, or a
// directory in it, and again when there is another one.
func TestSharedHTTP(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	shared, env := t.TempDir(), environment(t)
	serve := func(version string) {
		s.serve("/m.tar.gz", gzipped(t, files{"main.tf": version, "a/main.tf": "a" + version}), "ETag", `"`+version+`"`)
	}
	get := func(sub, version string) {
		p := newStorePlace(t, shared, s.url+"/m.tar.gz"+sub, env)
		if _, err := p.fetcher.Ensure(t.Context(), p.request); err != nil {
			t.Error(err)
		}

		want := files{"main.tf": version, "a/main.tf": "a" + version}
		if sub != "" {
			want = files{"main.tf": "a" + version}
		}

		if diff := cmp.Diff(want, content(t, p.dir.Path())); diff != "" {
			t.Errorf("files of directory %q: -want, +got:\n%s", sub, diff)
		}
	}

	serve("1")

	var wg sync.WaitGroup

	for range 4 {
		wg.Go(func() { get("", "1") })
		wg.Go(func() { get("//a", "1") })
	}

	wg.Wait()

	s.expectDownloads(t, "of an archive for 8 directories", 1)

	serve("2")

	for range 2 {
		get("", "2")
		get("//a", "2")
	}

	if requests, downloads := s.counts(); requests != 4 || downloads != 1 {
		t.Errorf("looks at another archive, and downloads: want 4 and 1, got %d and %d", requests, downloads)
	}

	// The checksum is part of the address.
	p := newStorePlace(t, shared, s.url+"/m.tar.gz?checksum=sha256:"+strings.Repeat("0", 64), env)
	p.ensureFails(t)
	p.expect(t, files{})
}

// TestSharedArtifact ensures that an artifact with the right digest is downloaded once.
func TestSharedArtifact(t *testing.T) {
	t.Parallel()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/a.tar.gz", data)

	right := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	shared, env := t.TempDir(), environment(t)

	for _, digest := range []string{right, right, "sha256:" + strings.Repeat("0", 64)} {
		dir := t.TempDir()

		res, err := fetch.Run(t.Context(), self, env, fetch.Request{
			Artifact: &fetch.Artifact{URL: s.url + "/a.tar.gz", Digest: digest},
			Store:    &fetch.Store{Dir: shared},
			Dir:      dir,
		})

		if want := digest == right; want != (err == nil) {
			t.Fatalf("Run(...) with digest %q: want success %t, got %v", digest, want, err)
		}

		if err == nil {
			if diff := cmp.Diff(files{"main.tf": "1"}, content(t, res.Dir)); diff != "" {
				t.Errorf("files: -want, +got:\n%s", diff)
			}
		}
	}

	s.expectDownloads(t, "of an artifact, and of one with another digest", 2)
}
