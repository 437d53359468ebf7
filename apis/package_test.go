// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"encoding/base64"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	// Without SafeStart Crossplane withholds the right to watch CRDs, which starting
	// one controller per activated kind needs. With dependencies, an upgrade would need more
	// than itself. Crossplane v1 knows neither namespaced Workspaces nor SafeStart.
	want := pkgmetav1.ProviderSpec{MetaSpec: pkgmetav1.MetaSpec{
		Capabilities: []string{"SafeStart"},
		Crossplane:   &pkgmetav1.CrossplaneConstraints{Version: ">=v2.0.0-0"},
	}}
	if diff := cmp.Diff(want, p.Spec); diff != "" {
		t.Errorf("crossplane.yaml: spec: -want, +got:\n%s", diff)
	}

	// A user interface shows the icon: no part of it is loaded from elsewhere.
	const prefix = "data:image/svg+xml;base64,"

	encoded, ok := strings.CutPrefix(p.Annotations["meta.crossplane.io/iconURI"], prefix)
	icon, err := base64.StdEncoding.DecodeString(encoded)

	if !ok || err != nil || xml.Unmarshal(icon, &struct{}{}) != nil || strings.Contains(string(icon), "href") {
		t.Errorf("crossplane.yaml: want an icon that begins with %q and is an image: %v: %s", prefix, err, icon)
	}
}
