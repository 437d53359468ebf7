// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/apis"
)

// Client returns a client with the kinds of Kubernetes and those of the provider.
func Client(t *testing.T, cfg *rest.Config) client.WithWatch {
	t.Helper()

	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apis.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}

	c, err := client.NewWithWatch(cfg, client.Options{Scheme: s})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// A Hook is in the way of a request. Next sends it to the API server.
type Hook func(r *http.Request, next http.RoundTripper) (*http.Response, error)

// Through returns a configuration like the supplied one, whose requests go through a hook.
func Through(cfg *rest.Config, hook Hook) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return hook(r, next) })
	})

	return cfg
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (rt roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return rt(r) }
