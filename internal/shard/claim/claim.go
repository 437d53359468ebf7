// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package claim makes sure that at most one instance works on a Workspace.
//
// Labels say which instance is to serve a Workspace. They may change at any time, also during a
// run, and each instance sees the change at a different time. A claim says which process may work
// on the Workspace now. It names the session of that process, and another process replaces it
// only when that one has released it or its session has ended. The claim is in the status of the Workspace:
// manifests, backups and copies may contain labels and annotations of an earlier time or of another
// object, but they do not write the status. [Decide] contains the rules, without I/O. The tests of
// this package explore all states of a model that follows the rules.
package claim

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// An Object is a Workspace of any kind.
type Object interface {
	client.Object

	// GetOwnership returns a copy of status.ownership. It is the zero value if it was written for
	// another Workspace.
	GetOwnership() commonv1beta1.Ownership

	// SetOwnership replaces status.ownership.
	SetOwnership(o commonv1beta1.Ownership)
}

// A Claim names the session of one process. The zero value names none.
type Claim = commonv1beta1.Claim

// Of returns the claim on a Workspace, or the zero value if there is none. An incomplete claim
// counts as none. So does a claim that was made on another Workspace: the instance that it names
// would never release it.
func Of(o Object) Claim {
	c := o.GetOwnership().Claim
	if c == nil || c.Namespace == "" || c.Lease == "" || c.Holder == "" {
		return Claim{}
	}

	return *c
}
