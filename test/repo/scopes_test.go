// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"testing"
)

const (
	resourcePackage = "github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	// scopePackage is the only package that may ask for the scope of a Workspace.
	scopePackage = "internal/providerconfig"
)

// scopes refuses code outside of one package that distinguishes cluster-scoped from
// namespaced managed resources: otherwise one implementation for both would become two.
func scopes(files []file) []string {
	var complaints []string

	for _, f := range files {
		if f.isTest() || f.dir() == scopePackage {
			continue
		}

		for _, n := range f.uses(f.syntax, resourcePackage, "LegacyManaged", "ModernManaged") {
			complaints = append(complaints, f.at(n)+": only "+scopePackage+" tells LegacyManaged from ModernManaged")
		}
	}

	return complaints
}

func TestScopes(t *testing.T) {
	t.Parallel()

	testRule(t, scopes, map[string]ruleCase{
		"Kept": {
			reason: "One package may; any package may use names that both scopes share; names of other packages do not count.",
			tree: tree{
				"internal/providerconfig/resolver.go": `package providerconfig
import "` + resourcePackage + `"
func f(mg resource.Managed) { _, _ = mg.(resource.ModernManaged) }`,
				"internal/controller/workspace/connector.go": `package workspace
import (
	"` + resourcePackage + `"
	"example.org/other"
)
func f(mg resource.Managed) { _, _ = mg.(other.ModernManaged) }`,
				"internal/controller/workspace/connector_test.go": `package workspace
import "` + resourcePackage + `"
func f(mg resource.Managed) { _, _ = mg.(resource.ModernManaged) }`,
			},
		},
		"TypeSwitch": {
			reason: "A type switch tells them apart.",
			tree: tree{
				"internal/controller/workspace/connector.go": `package workspace
import "` + resourcePackage + `"
func f(mg resource.Managed) {
	switch mg.(type) {
	case resource.ModernManaged:
	case resource.LegacyManaged:
	}
}`,
			},
			want: []string{
				"internal/controller/workspace/connector.go:5: only internal/providerconfig tells LegacyManaged from ModernManaged",
				"internal/controller/workspace/connector.go:6: only internal/providerconfig tells LegacyManaged from ModernManaged",
			},
		},
		"Alias": {
			reason: "Another name for the package changes nothing.",
			tree: tree{
				"internal/gc/gc.go": `package gc
import xpresource "` + resourcePackage + `"
type legacy = xpresource.LegacyManaged`,
			},
			want: []string{"internal/gc/gc.go:3: only internal/providerconfig tells LegacyManaged from ModernManaged"},
		},
	})
}
