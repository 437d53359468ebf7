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

	cluster := schema.GroupVersion{Group: "tf.upbound.io", Version: "v1beta1"}.WithKind
	namespaced := schema.GroupVersion{Group: "tf.m.upbound.io", Version: "v1beta1"}.WithKind

	cases := map[schema.GroupVersionKind]runtime.Object{
		cluster("Workspace"):               &clusterv1beta1.Workspace{},
		cluster("WorkspaceList"):           &clusterv1beta1.WorkspaceList{},
		cluster("ProviderConfig"):          &clusterv1beta1.ProviderConfig{},
		cluster("ProviderConfigList"):      &clusterv1beta1.ProviderConfigList{},
		cluster("ProviderConfigUsage"):     &clusterv1beta1.ProviderConfigUsage{},
		cluster("ProviderConfigUsageList"): &clusterv1beta1.ProviderConfigUsageList{},

		namespaced("Workspace"):                 &namespacedv1beta1.Workspace{},
		namespaced("WorkspaceList"):             &namespacedv1beta1.WorkspaceList{},
		namespaced("ProviderConfig"):            &namespacedv1beta1.ProviderConfig{},
		namespaced("ProviderConfigList"):        &namespacedv1beta1.ProviderConfigList{},
		namespaced("ClusterProviderConfig"):     &namespacedv1beta1.ClusterProviderConfig{},
		namespaced("ClusterProviderConfigList"): &namespacedv1beta1.ClusterProviderConfigList{},
		namespaced("ProviderConfigUsage"):       &namespacedv1beta1.ProviderConfigUsage{},
		namespaced("ProviderConfigUsageList"):   &namespacedv1beta1.ProviderConfigUsageList{},
	}

	s := runtime.NewScheme()
	for range 2 {
		if err := apis.AddToScheme(s); err != nil {
			t.Fatalf("AddToScheme(...): %v", err)
		}
	}

	for want, object := range cases {
		got, _, err := s.ObjectKinds(object)
		if err != nil {
			t.Fatalf("ObjectKinds(%T): %v", object, err)
		}

		if diff := cmp.Diff([]schema.GroupVersionKind{want}, got); diff != "" {
			t.Errorf("ObjectKinds(...): -want, +got:\n%s", diff)
		}
	}
}
