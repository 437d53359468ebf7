// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestCredentialsWatch lets a server answer two clients at certain times.
func TestCredentialsWatch(t *testing.T) {
	t.Parallel()

	// none is a connection that breaks before an answer.
	const none = 0

	type answer struct {
		at   time.Duration
		code int32
	}

	cases := map[string]struct {
		reason  string
		answers []answer
		want    bool
	}{
		"Fine":        {reason: "An accepted token is valid.", answers: []answer{{0, 200}, {time.Hour, 200}}},
		"Short":       {reason: "A token may be refused for a moment.", answers: []answer{{0, 401}, {59 * time.Second, 401}}},
		"Long":        {reason: "A token that is refused for long does not become valid.", answers: []answer{{0, 401}, {30 * time.Second, 401}, {time.Minute, 401}, {time.Minute, 401}}, want: true},
		"Now":         {reason: "A token that is accepted again is valid.", answers: []answer{{0, 401}, {30 * time.Second, 200}, {time.Minute, 401}}},
		"Forbidden":   {reason: "A missing right does not mean an invalid token.", answers: []answer{{0, 401}, {30 * time.Second, 403}, {time.Minute, 401}, {2 * time.Minute, 403}}},
		"Interrupted": {reason: "A request without an answer says nothing about the token.", answers: []answer{{0, 401}, {30 * time.Second, none}, {time.Minute, 401}}, want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			next := &atomic.Int32{}

			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				code := int(next.Load())
				if code == none {
					panic(http.ErrAbortHandler)
				}

				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
				_, _ = w.Write([]byte(`{}`))
			}))
			defer s.Close()

			cfg := &rest.Config{Host: s.URL}

			var failed error

			w := watchCredentials(cfg, func(err error) { failed = err })
			start := time.Now()

			for i, a := range tc.answers {
				w.now = func() time.Time { return start.Add(a.at) }

				next.Store(a.code)

				// Both clients count.
				kube, err := kubernetes.NewForConfig(cfg)
				if err != nil {
					t.Fatal(err)
				}

				// A read without an answer would be repeated.
				_, err = kube.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{}, metav1.CreateOptions{})
				if ok := err == nil; ok != (a.code == http.StatusOK) {
					t.Fatalf("\n%s\nanswer %d: want %d, got error %v", tc.reason, i, a.code, err)
				}

				if err == nil {
					continue
				}

				if remedy := strings.Contains(explainUnauthorized(err).Error(), "Delete the pod"); remedy != (a.code == http.StatusUnauthorized) {
					t.Errorf("\n%s\nexplainUnauthorized(%v) has the remedy: %t", tc.reason, err, remedy)
				}
			}

			if tc.want != (failed != nil) {
				t.Errorf("\n%s\nwant an error %t, got %v", tc.reason, tc.want, failed)
			}
		})
	}
}
