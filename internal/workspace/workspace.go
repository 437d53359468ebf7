// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workspace holds the parts that all Workspace kinds share: the interface that the
// controllers are written against and the table of kinds. It has the rules about who owns a state
// and whether a state is lost, and about what the management policies allow. It does no I/O.
package workspace

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A Workspace is a managed resource, of any scope, that is backed by one Terraform
// workspace.
type Workspace interface { //nolint:interfacebloat // It is all that the controllers know of the API types.
	resource.Managed
	resource.ReconciliationObserver

	// GetParameters returns a copy of spec.forProvider in which every reference has its namespace.
	GetParameters() commonv1beta1.WorkspaceParameters

	// GetObservation returns a copy of status.atProvider.
	GetObservation() commonv1beta1.WorkspaceObservation
	SetObservation(o commonv1beta1.WorkspaceObservation)

	// GetOwnership returns a copy of status.ownership. It is the zero value if it was written for
	// another Workspace.
	GetOwnership() commonv1beta1.Ownership
	SetOwnership(o commonv1beta1.Ownership)

	// GetLastHandledReconcileAt returns the last request for a reconcile that was handled.
	GetLastHandledReconcileAt() string

	// GetConnectionSecretKey returns the key of the Secret for the outputs, and false if there is
	// to be none.
	GetConnectionSecretKey() (types.NamespacedName, bool)
}
