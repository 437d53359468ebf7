// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package apiserver gives a test of one package an API server of its own.
package apiserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// Start an API server with the CRDs in the supplied files and directories, until the
// test ends.
func Start(t *testing.T, crds ...string) *rest.Config {
	t.Helper()

	return Environment(t, crds...).Config
}

// Environment starts an API server as Start does. The test may add users and CRDs.
func Environment(t *testing.T, crds ...string) *envtest.Environment {
	t.Helper()

	program.Need(t, "KUBEBUILDER_ASSETS")

	env := &envtest.Environment{
		CRDDirectoryPaths:     crds,
		ErrorIfCRDPathMissing: true,
		// On a busy machine the default of 20 seconds is too short.
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}

	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})

	return env
}

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

// Workspace returns one to create, of the supplied kind and in the supplied shard, none
// if that is empty. The API server gives it a name.
func Workspace(gvk schema.GroupVersionKind, shardName string) *unstructured.Unstructured {
	ws := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"forProvider": map[string]any{"source": "Inline", "module": ""},
	}}}
	ws.SetGroupVersionKind(gvk)
	ws.SetGenerateName("ws-")

	if shardName != "" {
		ws.SetLabels(map[string]string{shard.LabelKey: shardName})
	}

	if strings.Contains(gvk.Group, ".m.") {
		ws.SetNamespace(corev1.NamespaceDefault)
	}

	return ws
}
