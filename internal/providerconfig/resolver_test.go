// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestNameOf(t *testing.T) {
	t.Parallel()

	legacy := &clusterv1beta1.Workspace{}
	legacy.SetProviderConfigReference(&xpv2.Reference{Name: "legacy"})

	modern := &namespacedv1beta1.Workspace{}
	modern.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "modern"})

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		want   string
	}{
		"Legacy":     {reason: "It refers to one by name.", mg: legacy, want: "legacy"},
		"Modern":     {reason: "It refers to one by kind and name.", mg: modern, want: "modern"},
		"LegacyNone": {reason: "It may refer to none yet.", mg: &clusterv1beta1.Workspace{}},
		"ModernNone": {reason: "It may refer to none yet.", mg: &namespacedv1beta1.Workspace{}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, NameOf(tc.mg)); diff != "" {
				t.Errorf("\n%s\nNameOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
