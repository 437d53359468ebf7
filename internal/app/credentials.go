// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxUnauthorized is how long the API server may answer that it does not know this instance. It
// is longer than a rollout of API servers, or of their keys, needs until they agree.
const maxUnauthorized = time.Minute

// tokenRemedy describes how to get a valid token. The kubelet does not replace the token of a pod
// whose ServiceAccount was deleted and created again, not even for a new container.
const tokenRemedy = "the token of this instance is not valid: its ServiceAccount may have been deleted and created again. " +
	"Delete the pod, because only a new one gets a new token"

// A credentialsWatch reports that the API server no longer knows this instance. Without it, an
// instance without a Lease, or a standby, would run for ever without any effect. It is safe for
// concurrent use.
type credentialsWatch struct {
	now  func() time.Time
	fail func(err error)

	mu    sync.Mutex
	since time.Time
}

// watchCredentials calls fail when, for too long, the API server has answered only 401 Unauthorized
// to all clients that are made from cfg.
func watchCredentials(cfg *rest.Config, fail func(err error)) *credentialsWatch {
	w := &credentialsWatch{now: time.Now, fail: fail}

	observe(cfg, func(rsp *http.Response) { w.answered(rsp.StatusCode) })

	return w
}

// answered records an answer of the API server.
func (w *credentialsWatch) answered(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()

	now := w.now()

	switch {
	case code != http.StatusUnauthorized:
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = now
	case now.Sub(w.since) >= maxUnauthorized:
		w.fail(errors.Errorf("cannot run: the API server has answered nothing but 401 Unauthorized for %s: %s", maxUnauthorized, tokenRemedy))
	}
}

// explainUnauthorized adds a remedy to an error of an invalid token.
func explainUnauthorized(err error) error {
	if kerrors.IsUnauthorized(err) {
		return errors.Wrap(err, tokenRemedy)
	}

	return err
}

// observe calls fn with each answer of the API server to a client that is made from cfg. A request
// without an answer is not reported.
func observe(cfg *rest.Config, fn func(rsp *http.Response)) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &observer{next: next, fn: fn} })
}

type observer struct {
	next http.RoundTripper
	fn   func(rsp *http.Response)
}

// RoundTrip passes the request on.
func (o *observer) RoundTrip(r *http.Request) (*http.Response, error) {
	rsp, err := o.next.RoundTrip(r)
	if err == nil {
		o.fn(rsp)
	}

	return rsp, err
}

// WrappedRoundTripper lets client-go find the inner transport.
func (o *observer) WrappedRoundTripper() http.RoundTripper { return o.next }
