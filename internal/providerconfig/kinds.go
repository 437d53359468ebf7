// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// A Kind is one kind of ProviderConfig.
type Kind struct {
	resource.ProviderConfigKinds

	// Object is an empty ProviderConfig of this kind.
	Object client.Object

	// Usage is an empty usage of this kind of ProviderConfig.
	Usage client.Object

	// Users is an empty list of the kind of Workspace that may refer to this kind.
	Users resource.ManagedList
}

// Legacy says whether usages of this kind of ProviderConfig do not have the kind: it is the only
// one of its group.
func (k Kind) Legacy() bool {
	_, legacy := k.Usage.(resource.LegacyProviderConfigUsage)

	return legacy
}

// Kinds returns every kind of ProviderConfig of this provider.
func Kinds() []Kind {
	return []Kind{
		{
			ProviderConfigKinds: resource.ProviderConfigKinds{
				Config:    clusterv1beta1.ProviderConfigGroupVersionKind,
				Usage:     clusterv1beta1.ProviderConfigUsageGroupVersionKind,
				UsageList: clusterv1beta1.ProviderConfigUsageListGroupVersionKind,
			},
			Object: &clusterv1beta1.ProviderConfig{},
			Usage:  &clusterv1beta1.ProviderConfigUsage{},
			Users:  &clusterv1beta1.WorkspaceList{},
		},
		{
			ProviderConfigKinds: resource.ProviderConfigKinds{
				Config:    namespacedv1beta1.ProviderConfigGroupVersionKind,
				Usage:     namespacedv1beta1.ProviderConfigUsageGroupVersionKind,
				UsageList: namespacedv1beta1.ProviderConfigUsageListGroupVersionKind,
			},
			Object: &namespacedv1beta1.ProviderConfig{},
			Usage:  &namespacedv1beta1.ProviderConfigUsage{},
			Users:  &namespacedv1beta1.WorkspaceList{},
		},
		{
			ProviderConfigKinds: resource.ProviderConfigKinds{
				Config:    namespacedv1beta1.ClusterProviderConfigGroupVersionKind,
				Usage:     namespacedv1beta1.ProviderConfigUsageGroupVersionKind,
				UsageList: namespacedv1beta1.ProviderConfigUsageListGroupVersionKind,
			},
			Object: &namespacedv1beta1.ClusterProviderConfig{},
			Usage:  &namespacedv1beta1.ProviderConfigUsage{},
			Users:  &namespacedv1beta1.WorkspaceList{},
		},
	}
}
