// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
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

// A credentialsWatch ends an instance that the API server no longer knows. Without it, an
// instance without a Lease, or a standby, would run for ever without any effect. It is safe for
// concurrent use.
type credentialsWatch struct {
	limit   time.Duration
	now     func() time.Time
	refused chan struct{}

	mu    sync.Mutex
	since time.Time
}

// watchCredentials returns a credentialsWatch of all clients that are made from cfg.
func watchCredentials(cfg *rest.Config) *credentialsWatch {
	w := &credentialsWatch{limit: maxUnauthorized, now: time.Now, refused: make(chan struct{})}

	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &credentialsObserver{watch: w, next: next} })

	return w
}

// Start returns an error when, for too long, the API server has answered only 401 Unauthorized.
func (w *credentialsWatch) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-w.refused:
		return errors.Errorf("the API server has answered nothing but 401 Unauthorized for %s: %s", w.limit, tokenRemedy)
	}
}

// NeedLeaderElection returns false: a standby instance ends as well.
func (w *credentialsWatch) NeedLeaderElection() bool { return false }

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
	case now.Sub(w.since) >= w.limit:
		select {
		case <-w.refused:
		default:
			close(w.refused)
		}
	}
}

// A credentialsObserver passes on requests and reports their answers to a credentialsWatch. A
// request without an answer is not reported.
type credentialsObserver struct {
	watch *credentialsWatch
	next  http.RoundTripper
}

// RoundTrip passes the request on.
func (o *credentialsObserver) RoundTrip(r *http.Request) (*http.Response, error) {
	rsp, err := o.next.RoundTrip(r)
	if err == nil {
		o.watch.answered(rsp.StatusCode)
	}

	return rsp, err
}

// WrappedRoundTripper lets client-go find the inner transport.
func (o *credentialsObserver) WrappedRoundTripper() http.RoundTripper { return o.next }

// explainUnauthorized adds a remedy to an error of an invalid token.
func explainUnauthorized(err error) error {
	if kerrors.IsUnauthorized(err) {
		return errors.Wrap(err, tokenRemedy)
	}

	return err
}
