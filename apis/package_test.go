// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
)

func TestPackage(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../package/crossplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := &pkgmetav1.Provider{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		t.Fatalf("crossplane.yaml: %v", err)
	}

	if p.APIVersion != pkgmetav1.SchemeGroupVersion.String() || p.Kind != pkgmetav1.ProviderKind {
		t.Errorf("crossplane.yaml: want a Provider of %s, got %s %s", pkgmetav1.SchemeGroupVersion, p.APIVersion, p.Kind)
	}
	if p.Name != "provider-terraform" {
		t.Errorf("crossplane.yaml: want the name under which users installed it, provider-terraform, got %q", p.Name)
	}
	// Without it Crossplane withholds the right to watch CRDs, which starting one
	// controller per activated kind needs.
	if !pkgmetav1.CapabilitiesContainFuzzyMatch(p.Spec.Capabilities, pkgmetav1.ProviderCapabilitySafeStart) {
		t.Errorf("crossplane.yaml: want capability %q, got %q", pkgmetav1.ProviderCapabilitySafeStart, p.Spec.Capabilities)
	}
}
