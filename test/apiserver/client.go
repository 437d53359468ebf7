// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
)

// Client returns a client as controlplane.NewClient does.
func Client(t *testing.T, cfg *rest.Config) client.WithWatch {
	t.Helper()

	c, err := controlplane.NewClient(cfg)
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
