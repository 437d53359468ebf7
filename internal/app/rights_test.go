// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// TestWatchCredentials lets a server answer two clients at certain times.
func TestWatchCredentials(t *testing.T) {
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

			now := time.Now()
			start := now

			watchCredentials(cfg, func(err error) { failed = err }, func() time.Time { return now })

			for i, a := range tc.answers {
				now = start.Add(a.at)

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

func TestRightIn(t *testing.T) {
	t.Parallel()

	type want struct {
		right right
		ok    bool
	}

	cases := map[string]struct {
		reason string
		answer string
		want   want
	}{
		"Everywhere": {
			reason: "A right in all namespaces.",
			answer: `{"message":"secrets is forbidden: User \"x\" cannot list resource \"secrets\" in API group \"\" at the cluster scope"}`,
			want:   want{right: right{verb: "list", resource: "secrets"}, ok: true},
		},
		"Namespace": {
			reason: "A right in one namespace, and a subresource.",
			answer: `{"message":"... User \"x\" cannot patch resource \"workspaces/status\" in API group \"tf.m.upbound.io\" in the namespace \"team-a\""}`,
			want:   want{right: right{verb: "patch", group: "tf.m.upbound.io", resource: "workspaces/status", namespace: "team-a"}, ok: true},
		},
		"Protobuf": {
			reason: "Other encodings do not escape quotes.",
			answer: "k8s\x00\n\x0cv1\x12\x06Status" + `User "x" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "ns"` + "\x1a",
			want:   want{right: right{verb: "get", group: "coordination.k8s.io", resource: "leases", namespace: "ns"}, ok: true},
		},
		"Owner": {
			reason: "The plugin for owner references does not name the right.",
			answer: `{"message":"secrets \"a\" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"}`,
			want:   want{right: right{verb: "update", group: "tf.upbound.io, tf.m.upbound.io", resource: "workspaces/finalizers"}, ok: true},
		},
		"Webhook": {
			reason: "A webhook refuses a request for other reasons.",
			answer: `{"message":"admission webhook \"a\" denied the request: no"}`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, ok := rightIn([]byte(tc.answer))
			if !ok {
				got = right{}
			}

			if diff := cmp.Diff(tc.want, want{right: got, ok: ok}, cmp.AllowUnexported(want{}, right{})); diff != "" {
				t.Errorf("\n%s\nrightIn(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLogMissingRights ensures that a refused request of any client is logged, once in a while, and that
// the client gets the whole answer.
func TestLogMissingRights(t *testing.T) {
	t.Parallel()

	// A long name does not end the answer early.
	long := strings.Repeat("x", 2*maxRefusal)

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"User \"x\" cannot get resource \"` +
			r.URL.Query().Get("resourceVersion") + `\" in API group \"\" at the cluster scope ` + long + ` end"}`))
	}))
	defer s.Close()

	mu, lines := sync.Mutex{}, []string{}
	log := logging.NewLogrLogger(funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()

		lines = append(lines, args)
	}, funcr.Options{}))

	cfg := &rest.Config{Host: s.URL}
	now := time.Now()
	start := now

	logMissingRights(cfg, log, func() time.Time { return now })

	for _, step := range []struct {
		reason   string
		at       time.Duration
		resource string
		want     int
	}{
		{reason: "It is new.", resource: "secrets", want: 1},
		{reason: "It was logged.", at: repeatMissingRight - 1, resource: "secrets", want: 1},
		{reason: "Another one is new.", at: repeatMissingRight - 1, resource: "configmaps", want: 2},
		{reason: "It was logged long ago.", at: repeatMissingRight, resource: "secrets", want: 3},
	} {
		now = start.Add(step.at)

		// Each client has its own transport.
		kube, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}

		_, err = kube.CoreV1().Secrets("default").Get(t.Context(), "a", metav1.GetOptions{ResourceVersion: step.resource})
		if !kerrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), long+" end") {
			t.Errorf("\n%s\nthe client got another answer: %v", step.reason, err)
		}

		if len(lines) != step.want {
			t.Errorf("\n%s\nwant %d lines, got %q", step.reason, step.want, lines)
		}
	}

	for _, text := range []string{"A right is missing", `"verb"="get"`, `"resource"="secrets"`, "docs/troubleshooting.md"} {
		if !strings.Contains(lines[0], text) {
			t.Errorf("want %q in the log, got %s", text, lines[0])
		}
	}
}
