// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/apis"
)

// newScheme returns a scheme with every type that an instance reads or writes.
func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	b := runtime.NewSchemeBuilder(
		apis.AddToScheme,
		authorizationv1.AddToScheme,
		coordinationv1.AddToScheme,
		corev1.AddToScheme,
		extv1.AddToScheme,
	)

	return s, errors.Wrap(b.AddToScheme(s), "cannot build scheme")
}
