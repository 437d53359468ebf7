// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// testRequests checks the parameters of a list: they decide whether the answer is complete, and
// its cost.
func testRequests(t *testing.T, f *fixture) {
	t.Helper()

	for range 3 {
		f.workspace(t, workspace.GroupVersionKinds()[0], "")
	}

	var (
		mu    sync.Mutex
		lists []*http.Request
	)

	reader := f.through(t, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/workspaces") {
			mu.Lock()
			defer mu.Unlock()

			lists = append(lists, r)
		}

		return next.RoundTrip(r)
	})

	f.orphan(t)

	if _, err := f.collect(t, reader); err != nil {
		t.Fatal(err)
	}

	if len(lists) < 4 {
		t.Errorf("there were %d requests: too few for three pages of one kind and one of the other", len(lists))
	}

	for _, r := range lists {
		q := r.URL.Query()
		if diff := cmp.Diff("1", q.Get("limit")); diff != "" {
			t.Errorf("%s: limit: -want, +got:\n%s", r.URL, diff)
		}

		for _, name := range []string{"resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector"} {
			if q.Has(name) {
				t.Errorf("%s: %s makes the answer old or incomplete", r.URL, name)
			}
		}

		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "as=PartialObjectMetadataList") {
			t.Errorf("%s: asks for more than metadata: %s", r.URL, accept)
		}
	}
}

func testSecondPage(t *testing.T, env *envtest.Environment) {
	t.Helper()

	cases := map[string]struct {
		reason string
		answer apiserver.Hook
	}{
		"Gone": {
			reason: "The rest of an expired snapshot is not available.",
			answer: func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return status(r, http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`), nil
			},
		},
		"CutOff": {
			reason: "The answer ends in the middle.",
			answer: func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return status(r, http.StatusOK, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[`), nil
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, env)
			want := []string{f.orphan(t)}

			for range 3 {
				want = append(want, f.workspace(t, workspace.GroupVersionKinds()[0], ""))
			}

			broken := false
			reader := f.through(t, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if !r.URL.Query().Has("continue") {
					return next.RoundTrip(r)
				}

				broken = true

				return tc.answer(r, next)
			})

			deleted, err := f.collect(t, reader)
			if err == nil || !broken {
				t.Errorf("%s\nasked for a second page: %t, error: %v", tc.reason, broken, err)
			}

			if diff := cmp.Diff([]string(nil), deleted); diff != "" {
				t.Errorf("%s\ndeleted: -want, +got:\n%s", tc.reason, diff)
			}

			f.expect(t, tc.reason, want...)
		})
	}
}

// status returns an answer that does not come from the API server.
func status(r *http.Request, code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code,
		Header:     http.Header{"Content-Type": []string{"application/json"}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}
}
