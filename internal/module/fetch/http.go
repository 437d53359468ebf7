// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxReferences is how often a server may refer to another address in a row.
const maxReferences = 10

// An httpGetter downloads an archive unless it has the known revision.
type httpGetter struct {
	*getter.HttpGetter

	check *revisionCheck
}

func newHTTPGetter(c *revisionCheck) *httpGetter {
	return &httpGetter{
		check: c,
		HttpGetter: &getter.HttpGetter{
			Netrc:               true,
			Client:              &http.Client{Transport: &transport{base: http.DefaultTransport, check: c}},
			DoNotCheckHeadFirst: true,
			XTerraformGetLimit:  maxReferences,
		},
	}
}

// Get asks the server which address to get instead, and gets that.
func (g *httpGetter) Get(dst string, u *url.URL) error {
	g.check.redirect()

	return g.HttpGetter.Get(dst, u)
}

// A transport requests only resources that have changed, and limits the length of
// responses.
type transport struct {
	base  http.RoundTripper
	check *revisionCheck
}

// RoundTrip makes a request. It fails with errUnchanged if the source has the
// known revision, and with errStored if the store has the one of the response.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	prefix := "http " + fingerprint(origin(req).URL.String()) + " "
	stored := t.check.stored()

	known, conditional := strings.CutPrefix(cmp.Or(t.check.known, stored), prefix)
	if conditional {
		req = req.Clone(req.Context())
		setCondition(req.Header, known)
	}

	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}

	err = nil

	switch resp.StatusCode {
	case http.StatusNotModified:
		switch {
		case conditional && stored != "":
			err = t.reserve(stored)
		case conditional:
			err = errUnchanged
		}
	case http.StatusOK:
		revision := validator(resp.Header)
		if revision != "" {
			revision = prefix + revision
		}
		// A server may ignore conditions.
		err = t.reserve(revision)
	}

	if err != nil {
		resp.Body.Close() //nolint:errcheck // The body is not needed.

		return nil, err
	}

	resp.Body = &limitedBody{ReadCloser: resp.Body, left: maxDownload}

	return resp, nil
}

// reserve the revision in the store.
func (t *transport) reserve(revision string) error {
	if err := t.check.found(revision); err != nil {
		return err
	}

	return t.check.reserve(revision, t.check.address)
}

// validator returns the header, with its name, that identifies the version of a response;
// empty if the server sends none.
func validator(h http.Header) string {
	for _, name := range []string{"ETag", "Last-Modified"} {
		if value := h.Get(name); value != "" {
			return name + " " + value
		}
	}

	return ""
}

// setCondition asks for a response only if it has another validator.
func setCondition(h http.Header, validator string) {
	if value, ok := strings.CutPrefix(validator, "ETag "); ok {
		h.Set("If-None-Match", value)
	}

	if value, ok := strings.CutPrefix(validator, "Last-Modified "); ok {
		h.Set("If-Modified-Since", value)
	}
}

// origin returns the request that led, by redirects, to this one.
func origin(req *http.Request) *http.Request {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}

	return req
}

// A limitedBody fails when it is too long, rather than end.
type limitedBody struct {
	io.ReadCloser

	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errors.Errorf("the download is longer than %d bytes", int64(maxDownload))
	}

	return n, err
}
