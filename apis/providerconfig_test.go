// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// The interfaces of crossplane-runtime that the ProviderConfigs and their usages implement.
var (
	_ resource.ProviderConfig = &clusterv1beta1.ProviderConfig{}
	_ resource.ProviderConfig = &namespacedv1beta1.ProviderConfig{}
	_ resource.ProviderConfig = &namespacedv1beta1.ClusterProviderConfig{}

	_ resource.LegacyProviderConfigUsage = &clusterv1beta1.ProviderConfigUsage{}
	_ resource.TypedProviderConfigUsage  = &namespacedv1beta1.ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList   = &clusterv1beta1.ProviderConfigUsageList{}
	_ resource.ProviderConfigUsageList   = &namespacedv1beta1.ProviderConfigUsageList{}
)

func TestGetProviderConfigSpec(t *testing.T) {
	t.Parallel()

	spec := func(namespace string) commonv1beta1.ProviderConfigSpec {
		configuration := "terraform {}"

		return commonv1beta1.ProviderConfigSpec{
			Configuration: &configuration,
			Credentials: []commonv1beta1.ProviderCredentials{
				{
					Filename: "a.json",
					Source:   xpv2.CredentialsSourceSecret,
					CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
						SecretRef: &xpv2.SecretKeySelector{
							SecretReference: xpv2.SecretReference{Namespace: namespace, Name: "secret"},
							Key:             "key",
						},
					},
				},
				{
					Filename: "b.json",
					Source:   xpv2.CredentialsSourceNone,
				},
			},
		}
	}

	var (
		meta       = metav1.ObjectMeta{Name: "default", Namespace: "team"}
		cluster    = &clusterv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: spec("elsewhere")}
		modern     = &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: spec("elsewhere")}
		namespaced = &namespacedv1beta1.ProviderConfig{ObjectMeta: meta, Spec: spec("elsewhere")}
	)

	cases := map[string]struct {
		reason string
		config interface {
			GetProviderConfigSpec() commonv1beta1.ProviderConfigSpec
		}
		spec *commonv1beta1.ProviderConfigSpec
		want commonv1beta1.ProviderConfigSpec
	}{
		"ClusterScopedProviderConfig": {
			reason: "Secrets are in the written namespace.",
			config: cluster,
			spec:   &cluster.Spec,
			want:   spec("elsewhere"),
		},
		"ClusterProviderConfig": {
			reason: "Secrets are in the written namespace.",
			config: modern,
			spec:   &modern.Spec,
			want:   spec("elsewhere"),
		},
		"NamespacedProviderConfig": {
			reason: "Secrets are in the namespace of the ProviderConfig.",
			config: namespaced,
			spec:   &namespaced.Spec,
			want:   spec("team"),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := tc.config.GetProviderConfigSpec()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nGetProviderConfigSpec(): -want, +got:\n%s", tc.reason, diff)
			}

			*got.Configuration = "changed"
			got.Credentials[0].SecretRef.Namespace = "changed"

			if diff := cmp.Diff(spec("elsewhere"), *tc.spec); diff != "" {
				t.Errorf("A change of the result must not reach the object.\n-want, +got:\n%s", diff)
			}
		})
	}
}
