// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"net/http"
	"net/url"
	"strings"

	getter "github.com/hashicorp/go-getter"
)

const (
	// maxReferences limits the chain of references of servers to other addresses.
	maxReferences = 10

	// maxDownload limits the size of a response. Downloads by git, S3 and similar getters are not
	// limited.
	maxDownload = 1 << 30
)

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
			Client:              &http.Client{Transport: &transport{base: http.DefaultTransport, check: c, limit: maxDownload}},
			DoNotCheckHeadFirst: true,
			XTerraformGetLimit:  maxReferences,
		},
	}
}

// Get asks the server for another address to get, and gets that.
func (g *httpGetter) Get(dst string, u *url.URL) error {
	g.check.redirect()

	return g.HttpGetter.Get(dst, u)
}

// A transport requests only resources that have changed, and limits the length of
// responses.
type transport struct {
	base  http.RoundTripper
	check *revisionCheck
	limit int64
}

// RoundTrip makes a request. It fails with errSkipped if the response is not needed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	prefix := "http " + fingerprint(origin(req).URL.String()) + " "

	known, conditional := strings.CutPrefix(t.check.known, prefix)
	if conditional {
		req = req.Clone(req.Context())
		setCondition(req.Header, known)
	}

	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}

	switch revision := validator(resp.Header); {
	case resp.StatusCode == http.StatusNotModified && conditional:
		err = t.check.found(t.check.known)
	case resp.StatusCode == http.StatusOK && revision != "":
		// A server may ignore conditions.
		err = t.check.found(prefix + revision)
	case resp.StatusCode == http.StatusOK:
		err = t.check.found("")
	}

	if err != nil {
		resp.Body.Close() //nolint:errcheck // The body is not needed.

		return nil, err
	}

	resp.Body = http.MaxBytesReader(nil, resp.Body, t.limit)

	return resp, nil
}

// validator returns the header, with its name, that identifies the version of a response. It is
// empty if the server sends none.
func validator(h http.Header) string {
	for _, name := range []string{"ETag", "Last-Modified"} {
		if value := h.Get(name); value != "" {
			return name + " " + value
		}
	}

	return ""
}

// setCondition requests a response only if it has another validator.
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
