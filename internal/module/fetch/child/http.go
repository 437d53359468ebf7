// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
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

	source *source
}

func newHTTPGetter(s *source) *httpGetter {
	return &httpGetter{
		source: s,
		HttpGetter: &getter.HttpGetter{
			Netrc:               true,
			Client:              &http.Client{Transport: &transport{source: s, limit: maxDownload, silence: fetch.MaxSilence}},
			DoNotCheckHeadFirst: true,
			XTerraformGetLimit:  maxReferences,
		},
	}
}

// Get asks the server for another address to get, and gets that.
func (g *httpGetter) Get(dst string, u *url.URL) error {
	g.source.redirect()

	err := g.HttpGetter.Get(dst, u)
	if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
		// The getter looks for a reference in what it takes for a page.
		return errors.New("the address does not tell which archive this is: add archive=tar.gz or archive=zip. For a repository, use git:: and its address")
	}

	if err != nil && strings.Contains(err.Error(), "no source URL was returned") {
		return errors.New("the server offers no module there: use the address of an archive, or git:: and the address of a repository")
	}

	// Without the name of an archive, the address of a repository is more likely.
	if advised := withCredentialsAdvice(err); advised != err { //nolint:errorlint // It is the same one, or another.
		return fmt.Errorf("%w. For a repository, use git:: and its address", advised)
	}

	return err
}

// GetFile downloads an archive.
func (g *httpGetter) GetFile(dst string, u *url.URL) error {
	return withCredentialsAdvice(g.HttpGetter.GetFile(dst, u))
}

// refused matches what go-getter says when a server refuses the credentials, or has nothing there. Many servers say that
// there is nothing if the credentials are missing.
var refused = regexp.MustCompile(`^bad response code: 40[134]$`)

// withCredentialsAdvice adds where the credentials for an archive come from.
func withCredentialsAdvice(err error) error {
	if err == nil || !refused.MatchString(err.Error()) {
		return err
	}

	return fmt.Errorf("%w: correct the address, or give credentials for it: user and password in the address, or a file .netrc in HOME of the provider", err)
}

// A transport requests only resources that have changed, and limits the length of responses, and the time in which a
// server sends nothing.
type transport struct {
	source  *source
	limit   int64
	silence time.Duration
}

var errSilent = errors.New("the server has sent nothing for a minute")

// A watched body ends the request if its server sends nothing.
type watched struct {
	io.ReadCloser

	ctx     context.Context //nolint:containedctx // That of the request.
	silence time.Duration
	timer   *time.Timer
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.timer.Reset(w.silence); errors.Is(context.Cause(w.ctx), errSilent) {
		err = errSilent
	}

	return n, err
}

func (w watched) Close() error {
	w.timer.Stop()

	return w.ReadCloser.Close()
}

// tag and modified are the headers that identify the version of a response.
const tag, modified = "ETag", "Last-Modified"

// asIs returns archives as they are, which is what a digest is of. Stores send the header Content-Encoding with a .tar.gz. The default
// transport asks for compressed answers, and would unpack it.
var asIs = func() *http.Transport { //nolint:gochecknoglobals // It has the connections of all requests.
	t, _ := http.DefaultTransport.(*http.Transport)
	t = t.Clone()
	t.DisableCompression = true

	return t
}()

// RoundTrip makes a request. It fails with errSkipped if the response is not needed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := time.AfterFunc(t.silence, func() { cancel(errSilent) })

	req = req.Clone(ctx)

	// There is no condition for the other one: servers take an older version that was put back for one that is not modified.
	if value, ok := strings.CutPrefix(t.source.request.Known, revisionPrefix(tag)); ok {
		req.Header.Set("If-None-Match", value)
	}

	resp, err := asIs.RoundTrip(req)
	if err != nil {
		silent.Stop()

		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}

		return nil, err
	}

	resp.Body = watched{ReadCloser: resp.Body, ctx: ctx, silence: t.silence, timer: silent}

	switch resp.StatusCode {
	case http.StatusNotModified:
		err = t.source.found(t.source.request.Known)
	case http.StatusOK: // A server may ignore conditions.
		t.source.page = !req.URL.Query().Has("terraform-get") && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
		err = t.source.found(revision(resp.Header))
	}

	if err != nil {
		resp.Body.Close() //nolint:errcheck // The body is not needed.

		return nil, err
	}

	resp.Body = http.MaxBytesReader(nil, resp.Body, t.limit)

	return resp, nil
}

// revision returns the revision of a response. It is empty if the server does not tell it. JSON, in which
// it is recorded, cannot contain all values: two of them would become the same.
func revision(h http.Header) string {
	for _, name := range []string{tag, modified} {
		if value := h.Get(name); value != "" && utf8.ValidString(value) {
			return revisionPrefix(name) + value
		}
	}

	return ""
}

// revisionPrefix begins the revisions that consist of the value of a header.
func revisionPrefix(header string) string { return "http " + header + " " }
