// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// A middleware sees every request to the API server. It answers by itself or
// leaves that to the API server, which is next.
type middleware func(w http.ResponseWriter, r *http.Request, next http.Handler)

// A proxy stands between one instance and the API server. Its faults can be changed at any
// time.
type proxy struct {
	// kubeconfig of the clients of the proxy.
	kubeconfig string

	does atomic.Pointer[middleware]
}

func startProxy(t *testing.T, c *cluster, m middleware) *proxy {
	t.Helper()

	target, err := url.Parse(c.config.Host)
	if err != nil {
		t.Fatalf("cannot parse address of API server: %v", err)
	}

	transport, err := rest.TransportFor(c.config)
	if err != nil {
		t.Fatalf("cannot make transport: %v", err)
	}

	next := &httputil.ReverseProxy{
		Transport: transport,
		// A watch never ends: each part of it is passed on at once.
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		// A closed connection of a client is not logged.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}

	p := &proxy{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	p.become(m)

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*p.does.Load())(w, r, next)
	}))
	t.Cleanup(s.Close)

	config := `apiVersion: v1
kind: Config
clusters:
- name: proxy
  cluster:
    server: ` + s.URL + `
contexts:
- name: proxy
  context:
    cluster: proxy
current-context: proxy
`
	if err := os.WriteFile(p.kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatalf("cannot write kubeconfig: %v", err)
	}

	return p
}

// become makes the proxy behave in another way.
func (p *proxy) become(m middleware) { p.does.Store(&m) }

// transparent leaves everything to the API server.
func transparent(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }

// refuse answers as the API server does when it fails.
func refuse(w http.ResponseWriter, code int32, reason metav1.StatusReason) {
	refuseWith(w, code, reason, "refused by a test")
}

func refuseWith(w http.ResponseWriter, code int32, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(code))
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Message:  message,
		Reason:   reason,
		Code:     code,
	})
}
