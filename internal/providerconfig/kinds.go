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
	cluster := resource.ProviderConfigKinds{
		Config:    clusterv1beta1.ProviderConfigGroupVersionKind,
		Usage:     clusterv1beta1.ProviderConfigUsageGroupVersionKind,
		UsageList: clusterv1beta1.ProviderConfigUsageListGroupVersionKind,
	}
	namespaced := resource.ProviderConfigKinds{
		Config:    namespacedv1beta1.ProviderConfigGroupVersionKind,
		Usage:     namespacedv1beta1.ProviderConfigUsageGroupVersionKind,
		UsageList: namespacedv1beta1.ProviderConfigUsageListGroupVersionKind,
	}
	anywhere := namespaced
	anywhere.Config = namespacedv1beta1.ClusterProviderConfigGroupVersionKind

	return []Kind{
		{cluster, &clusterv1beta1.ProviderConfig{}, &clusterv1beta1.ProviderConfigUsage{}, &clusterv1beta1.WorkspaceList{}},
		{namespaced, &namespacedv1beta1.ProviderConfig{}, &namespacedv1beta1.ProviderConfigUsage{}, &namespacedv1beta1.WorkspaceList{}},
		{anywhere, &namespacedv1beta1.ClusterProviderConfig{}, &namespacedv1beta1.ProviderConfigUsage{}, &namespacedv1beta1.WorkspaceList{}},
	}
}
