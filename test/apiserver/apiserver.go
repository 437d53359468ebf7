// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package apiserver gives a test of one package an API server of its own.
package apiserver

import (
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

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

	env := &envtest.Environment{CRDDirectoryPaths: crds, ErrorIfCRDPathMissing: true}

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
