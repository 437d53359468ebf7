// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

func testAnswerLost(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			err = errors.Wrap(resp.Body.Close(), "cannot close")
		}

		return nil, errors.Wrap(errors.Join(err, errors.New("connection lost")), "cannot read answer")
	})

	if f.reconcile(t) == nil {
		t.Error("want the error of the request")
	}

	f.eventuallyClaimed(t, "A claim that may have been written is released.", Claim{})
	f.refresh(t)
	f.eventuallyTakes(t)
}

func testClaimArrivesLate(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	arrive := f.delay(http.MethodPatch)

	if f.reconcile(t) == nil {
		t.Error("want the error of the request")
	}

	f.eventuallyForgotten(t)

	if diff := cmp.Diff(http.StatusConflict, arrive(t)); diff != "" {
		t.Errorf("answer to the first request: -want, +got:\n%s", diff)
	}

	f.expectClaim(t, "A claim that arrives now would never be released.", Claim{})
}

func testErasureArrivesLate(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)
	f.expectReconciled(t)

	arrive := f.delay(http.MethodPatch)

	f.leave()
	f.eventuallyClaimed(t, "A failed release is repeated.", Claim{})
	f.refresh(t)
	f.eventuallyTakes(t)

	if diff := cmp.Diff(http.StatusConflict, arrive(t)); diff != "" {
		t.Errorf("answer to the first request: -want, +got:\n%s", diff)
	}

	f.expectClaim(t, "The current claim is another one.", f.me())
}

// once handles the next request with the supplied method with a hook.
func (f *fixture) once(method string, h apiserver.Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.hooks[method] = h
}

// delay delays the next request with the supplied method: its sender sees a lost connection. The
// request arrives when the returned function is called, which returns the status of the answer.
func (f *fixture) delay(method string) func(t *testing.T) int {
	type sent struct {
		r    *http.Request
		next http.RoundTripper
	}

	kept := make(chan sent, 1)

	f.once(method, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		late := r.Clone(context.WithoutCancel(r.Context()))

		body, err := r.GetBody()
		if err != nil {
			return nil, errors.Wrap(err, "cannot keep request")
		}

		late.Body = body
		kept <- sent{r: late, next: next}

		return nil, errors.New("connection lost")
	})

	return func(t *testing.T) int {
		t.Helper()

		s := <-kept

		resp, err := s.next.RoundTrip(s.r)
		if err != nil {
			t.Fatal(err)
		}

		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}

		return resp.StatusCode
	}
}
