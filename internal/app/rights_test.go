// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

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

// TestRightsLog ensures that a refused request of any client is logged, once in a while, and that
// the client gets the whole answer.
func TestRightsLog(t *testing.T) {
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
	l := logMissingRights(cfg, log)
	start := time.Now()

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
		l.now = func() time.Time { return start.Add(step.at) }

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

func TestExplainOwnerRefused(t *testing.T) {
	t.Parallel()

	secrets := schema.GroupResource{Resource: "secrets"}
	refusal := kerrors.NewForbidden(secrets, "a", errors.New("cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"))
	other := kerrors.NewForbidden(secrets, "a", errors.New(`User "x" cannot create resource "secrets"`))

	if err := explainOwnerRefused(errors.Wrap(refusal, "cannot create object")); !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "update workspaces/finalizers") {
		t.Errorf("want the missing right, got %v", err)
	}

	for _, err := range []error{nil, other} {
		if got := explainOwnerRefused(err); !errors.Is(got, err) {
			t.Errorf("want %v, got %v", err, got)
		}
	}
}
