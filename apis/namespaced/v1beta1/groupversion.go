// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the namespaced kinds of the provider, and the
// configuration that they can share across namespaces: group tf.m.upbound.io,
// version v1beta1.
//
// +kubebuilder:object:generate=true
// +groupName=tf.m.upbound.io
// +versionName=v1beta1
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group and Version of the kinds in this package.
const (
	Group   = "tf.m.upbound.io"
	Version = "v1beta1"
)

// Names of the kinds.
const (
	WorkspaceKind             = "Workspace"
	ProviderConfigKind        = "ProviderConfig"
	ClusterProviderConfigKind = "ClusterProviderConfig"
	ProviderConfigUsageKind   = "ProviderConfigUsage"
)

// Group, version and kind of everything in this package.
var (
	SchemeGroupVersion = schema.GroupVersion{Group: Group, Version: Version}

	WorkspaceGroupVersionKind               = SchemeGroupVersion.WithKind(WorkspaceKind)
	WorkspaceListGroupVersionKind           = SchemeGroupVersion.WithKind(WorkspaceKind + "List")
	ProviderConfigGroupVersionKind          = SchemeGroupVersion.WithKind(ProviderConfigKind)
	ClusterProviderConfigGroupVersionKind   = SchemeGroupVersion.WithKind(ClusterProviderConfigKind)
	ProviderConfigUsageGroupVersionKind     = SchemeGroupVersion.WithKind(ProviderConfigUsageKind)
	ProviderConfigUsageListGroupVersionKind = SchemeGroupVersion.WithKind(ProviderConfigUsageKind + "List")
)

// AddToScheme registers the kinds of this package with s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion,
		&Workspace{}, &WorkspaceList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
	metav1.AddToGroupVersion(s, SchemeGroupVersion)

	return nil
}
