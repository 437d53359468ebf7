// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestSharedHTTP ensures that an archive is downloaded once for all places that need it or a
// directory in it, and again when it changes.
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

	expect := func(what string, wantRequests int) {
		t.Helper()

		if requests, _ := s.counts(); requests != wantRequests {
			t.Errorf("requests for %s: want %d, got %d", what, wantRequests, requests)
		}
	}

	serve("1")

	var wg sync.WaitGroup

	for range 4 {
		wg.Go(func() { get("", "1") })
		wg.Go(func() { get("//a", "1") })
	}

	wg.Wait()
	expect("an archive: 8 checks and a download", 9)

	serve("2")

	for range 2 {
		get("", "2")
		get("//a", "2")
	}

	expect("another archive: 4 checks and a download", 5)

	// The checksum is part of the address.
	p := newStorePlace(t, shared, s.url+"/m.tar.gz?checksum=sha256:"+strings.Repeat("0", 64), env)
	p.ensureFails(t)
	p.expect(t, files{})
}

// TestChecksumFile ensures that the revision of an archive differs from that of the file with its
// checksum.
func TestChecksumFile(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/m.tar.gz", data, "ETag", `"1"`)
	s.serve("/sums", fmt.Appendf(nil, "%x  m.tar.gz\n", sha256.Sum256(data)), "ETag", `"2"`)

	p := newStorePlace(t, t.TempDir(), s.url+"/m.tar.gz?checksum=file:"+s.url+"/sums", environment(t))
	p.ensure(t)
	p.expect(t, files{"main.tf": "1"})
	s.counts()

	p.ensure(t)
	s.expectDownloads(t, "of the checksum only", 1)
}

// TestSharedArtifact ensures that an artifact with the right digest is downloaded once.
func TestSharedArtifact(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	data := gzipped(t, files{"main.tf": "1"})
	s.serve("/a.tar.gz", data)

	right := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	shared, env := t.TempDir(), environment(t)

	for _, digest := range []string{right, right, "sha256:" + strings.Repeat("0", 64)} {
		p := newStorePlace(t, shared, "", env)
		url := s.url + "/a.tar.gz"

		err := p.fetcher.update(t.Context(), p.request, source{address: url, revision: digest, request: fetch.Request{Artifact: &fetch.Artifact{URL: url, Digest: digest}}})
		if want := digest == right; want != (err == nil) {
			t.Fatalf("update(...) with digest %q: want success %t, got %v", digest, want, err)
		}

		if err == nil {
			p.expect(t, files{"main.tf": "1"})
		}
	}

	s.expectDownloads(t, "of an artifact, and of one with another digest", 2)
}
