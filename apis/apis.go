// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package apis knows every API group of this provider.
package apis

import (
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// AddToScheme registers every kind of both API groups with s. It may be called
// again with the same scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(clusterv1beta1.AddToScheme, namespacedv1beta1.AddToScheme)

	return b.AddToScheme(s)
}
