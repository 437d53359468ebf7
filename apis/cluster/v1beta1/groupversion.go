// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the cluster-scoped kinds of the provider: group
// tf.upbound.io, version v1beta1.
//
// +kubebuilder:object:generate=true
// +groupName=tf.upbound.io
// +versionName=v1beta1
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group and Version of the kinds in this package.
const (
	Group   = "tf.upbound.io"
	Version = "v1beta1"
)

// Names of the kinds.
const (
	WorkspaceKind           = "Workspace"
	ProviderConfigKind      = "ProviderConfig"
	ProviderConfigUsageKind = "ProviderConfigUsage"
)

// Group, version and kind of everything in this package.
var (
	SchemeGroupVersion = schema.GroupVersion{Group: Group, Version: Version}

	WorkspaceGroupVersionKind               = SchemeGroupVersion.WithKind(WorkspaceKind)
	WorkspaceListGroupVersionKind           = SchemeGroupVersion.WithKind(WorkspaceKind + "List")
	ProviderConfigGroupVersionKind          = SchemeGroupVersion.WithKind(ProviderConfigKind)
	ProviderConfigUsageGroupVersionKind     = SchemeGroupVersion.WithKind(ProviderConfigUsageKind)
	ProviderConfigUsageListGroupVersionKind = SchemeGroupVersion.WithKind(ProviderConfigUsageKind + "List")
)

// AddToScheme registers the kinds of this package with s.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(SchemeGroupVersion,
		&Workspace{}, &WorkspaceList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
	metav1.AddToGroupVersion(s, SchemeGroupVersion)

	return nil
}
