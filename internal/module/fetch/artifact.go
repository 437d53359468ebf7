// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// getArtifact downloads an artifact, and unpacks it once its digest is verified.
func getArtifact(ctx context.Context, a Artifact, dir string, s *store) error {
	module := filepath.Join(dir, moduleDir)
	if err := s.reserve(a.Digest, a.URL); err != nil {
		return s.get("", module)
	}

	verify, err := newVerifier(a.Digest)
	if err != nil {
		return err
	}

	archive, err := os.OpenFile(filepath.Join(dir, "artifact"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The directory is ours.
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // The written bytes are verified.

	if err := download(ctx, a.URL, io.MultiWriter(archive, verify.hash)); err != nil {
		return err
	}

	if err := verify.check(); err != nil {
		return err
	}

	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}

	if err := unpackInto(module, archive, tarOf(gunzip)); err != nil {
		return err
	}

	s.put(module)

	return nil
}

// download writes the response from the address to w.
func download(ctx context.Context, address string, w io.Writer) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}

	if u.Scheme != "http" && u.Scheme != "https" {
		return errors.Errorf("the scheme of the artifact is %q: must be http or https", u.Scheme)
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}

	resp, err := (&http.Client{}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // It is only read from.

	if resp.StatusCode != http.StatusOK {
		return errors.Errorf("the server answered %s", resp.Status)
	}

	_, err = io.Copy(w, &limitedBody{ReadCloser: resp.Body, left: maxDownload})

	return errors.Wrap(err, "cannot download")
}

// A verifier computes a digest to compare it with the one that is wanted.
type verifier struct {
	hash hash.Hash
	want string
	name string
}

func newVerifier(digest string) (*verifier, error) {
	algorithm, want, _ := strings.Cut(digest, ":")

	v := &verifier{name: algorithm, want: strings.ToLower(want)}
	switch algorithm {
	case "sha256":
		v.hash = sha256.New()
	case "sha384":
		v.hash = sha512.New384()
	case "sha512":
		v.hash = sha512.New()
	default:
		return nil, errors.Errorf("cannot verify the digest %q: it must be a sha256, sha384 or sha512", digest)
	}

	return v, nil
}

func (v *verifier) check() error {
	if got := hex.EncodeToString(v.hash.Sum(nil)); got != v.want {
		return errors.Errorf("the digest of the artifact is wrong: want %s:%s, got %s:%s", v.name, v.want, v.name, got)
	}

	return nil
}
