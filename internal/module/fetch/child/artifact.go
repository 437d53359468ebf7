// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// getArtifact downloads an artifact, and unpacks it to dst after a check of its digest. The
// checksums of go-getter lack SHA-384.
func getArtifact(ctx context.Context, a fetch.Artifact, dir, dst string) error {
	u, err := url.Parse(a.URL)
	if err != nil {
		return err
	}

	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("the scheme of the artifact is %q: must be http or https", u.Scheme)
	}

	archive := filepath.Join(dir, "artifact")

	web := newHTTPGetter(&source{})
	web.SetClient(&getter.Client{Ctx: ctx})

	// The address is not one of a person.
	if err := web.HttpGetter.GetFile(archive, u); err != nil {
		return fmt.Errorf("cannot download: %w", err)
	}

	if err := verify(archive, a.Digest); err != nil {
		return err
	}

	return decompressors()["tar.gz"].Decompress(dst, archive, true, 0)
}

// verify checks that a file has the digest.
func verify(path, digest string) error {
	algorithm, _, _ := strings.Cut(digest, ":")

	hashes := map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}
	if hashes[algorithm] == nil {
		return fmt.Errorf("cannot verify the digest %q: it must be a sha256, sha384 or sha512", digest)
	}

	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // It is only read from.

	h := hashes[algorithm]()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}

	if got := fmt.Sprintf("%s:%x", algorithm, h.Sum(nil)); !strings.EqualFold(got, digest) {
		return fmt.Errorf("the digest of the artifact is wrong: want %s, got %s", strings.ToLower(digest), got)
	}

	return nil
}
