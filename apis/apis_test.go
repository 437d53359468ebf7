// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestAddToScheme(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		object runtime.Object
		want   schema.GroupVersionKind
		text   string
	}{
		"ClusterWorkspace": {
			reason: "The cluster-scoped Workspace is in the legacy group.",
			object: &clusterv1beta1.Workspace{},
			want:   clusterv1beta1.WorkspaceGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=Workspace",
		},
		"ClusterWorkspaceList": {
			reason: "Every kind has a list.",
			object: &clusterv1beta1.WorkspaceList{},
			want:   clusterv1beta1.WorkspaceListGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=WorkspaceList",
		},
		"ClusterScopedProviderConfig": {
			reason: "The legacy ProviderConfig is in the legacy group.",
			object: &clusterv1beta1.ProviderConfig{},
			want:   clusterv1beta1.ProviderConfigGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=ProviderConfig",
		},
		"ClusterScopedProviderConfigList": {
			reason: "Every kind has a list.",
			object: &clusterv1beta1.ProviderConfigList{},
			want:   clusterv1beta1.ProviderConfigListGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=ProviderConfigList",
		},
		"ClusterProviderConfigUsage": {
			reason: "The legacy usage is in the legacy group.",
			object: &clusterv1beta1.ProviderConfigUsage{},
			want:   clusterv1beta1.ProviderConfigUsageGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=ProviderConfigUsage",
		},
		"ClusterProviderConfigUsageList": {
			reason: "Every kind has a list.",
			object: &clusterv1beta1.ProviderConfigUsageList{},
			want:   clusterv1beta1.ProviderConfigUsageListGroupVersionKind,
			text:   "tf.upbound.io/v1beta1, Kind=ProviderConfigUsageList",
		},
		"NamespacedWorkspace": {
			reason: "The namespaced Workspace is in the modern group.",
			object: &namespacedv1beta1.Workspace{},
			want:   namespacedv1beta1.WorkspaceGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=Workspace",
		},
		"NamespacedWorkspaceList": {
			reason: "Every kind has a list.",
			object: &namespacedv1beta1.WorkspaceList{},
			want:   namespacedv1beta1.WorkspaceListGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=WorkspaceList",
		},
		"NamespacedProviderConfig": {
			reason: "The namespaced ProviderConfig is in the modern group.",
			object: &namespacedv1beta1.ProviderConfig{},
			want:   namespacedv1beta1.ProviderConfigGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ProviderConfig",
		},
		"NamespacedProviderConfigList": {
			reason: "Every kind has a list.",
			object: &namespacedv1beta1.ProviderConfigList{},
			want:   namespacedv1beta1.ProviderConfigListGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ProviderConfigList",
		},
		"ClusterProviderConfig": {
			reason: "The ClusterProviderConfig is cluster-scoped, and yet in the modern group.",
			object: &namespacedv1beta1.ClusterProviderConfig{},
			want:   namespacedv1beta1.ClusterProviderConfigGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ClusterProviderConfig",
		},
		"ClusterProviderConfigList": {
			reason: "Every kind has a list.",
			object: &namespacedv1beta1.ClusterProviderConfigList{},
			want:   namespacedv1beta1.ClusterProviderConfigListGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ClusterProviderConfigList",
		},
		"NamespacedProviderConfigUsage": {
			reason: "The namespaced usage is in the modern group.",
			object: &namespacedv1beta1.ProviderConfigUsage{},
			want:   namespacedv1beta1.ProviderConfigUsageGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ProviderConfigUsage",
		},
		"NamespacedProviderConfigUsageList": {
			reason: "Every kind has a list.",
			object: &namespacedv1beta1.ProviderConfigUsageList{},
			want:   namespacedv1beta1.ProviderConfigUsageListGroupVersionKind,
			text:   "tf.m.upbound.io/v1beta1, Kind=ProviderConfigUsageList",
		},
	}

	s := runtime.NewScheme()
	for range 2 {
		if err := apis.AddToScheme(s); err != nil {
			t.Fatalf("AddToScheme(...): %v", err)
		}
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, _, err := s.ObjectKinds(tc.object)
			if err != nil {
				t.Fatalf("%s\nObjectKinds(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff([]schema.GroupVersionKind{tc.want}, got); diff != "" {
				t.Errorf("%s\nObjectKinds(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.text, tc.want.String()); diff != "" {
				t.Errorf("%s\nGroupVersionKind: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
