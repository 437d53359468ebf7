// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// An owned object names its owner in its status.
type owned interface {
	GetOwnership() commonv1beta1.Ownership
	SetOwnership(o commonv1beta1.Ownership)
}

// carry over the ownership from the status of the latest version of an object. The
// ownership is written independently of the rest of the status, which a reconcile has had
// since its beginning. It returns false if another instance has claimed the object
// meanwhile.
func carry(latest, o client.Object) bool {
	from, ok := latest.(owned)
	if !ok {
		return true
	}

	to, ok := o.(owned)
	if !ok {
		return true
	}

	now, own := from.GetOwnership(), to.GetOwnership()
	if own.TakenBy(now) {
		return false
	}

	own.Claim, own.PreviousHosts = now.Claim, now.PreviousHosts
	to.SetOwnership(own)

	return true
}
