// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// The kubernetes backend of both CLIs stores a lock as a Lease with these labels. The holder of
// the Lease is the ID of the lock.
const (
	LabelState     = "tfstate"
	LabelWorkspace = "tfstateWorkspace"

	annotationLockInfo = "app.terraform.io/lock-info"
)

// MakesState is the operation in a lock that the kubernetes backend takes to make a state.
const MakesState = "init"

// ReleaseLease removes a lock on the state of the named Terraform workspace if the lock is one of
// the kubernetes backend in this cluster. The options select the locks of one backend. ReleaseLease
// returns false if there is no such lock.
//
// That backend makes a state before every other operation on a workspace, including force-unlock,
// and locks the state meanwhile. A run that is killed at that moment leaves a lock that no
// command of the CLI can remove.
func ReleaseLease(ctx context.Context, live client.Reader, kube client.Writer, name string, l terraform.Lock, backend ...client.ListOption) (bool, error) {
	leases := &coordinationv1.LeaseList{}
	if err := live.List(ctx, leases, append(backend, client.MatchingLabels{LabelState: "true", LabelWorkspace: name})...); err != nil {
		return false, errors.Wrap(err, "cannot list Leases")
	}

	for i := range leases.Items {
		before := &leases.Items[i]
		if ptr.Deref(before.Spec.HolderIdentity, "") != l.ID {
			continue
		}

		after := before.DeepCopy()
		after.Spec.HolderIdentity = nil
		delete(after.Annotations, annotationLockInfo)

		err := kube.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))

		return err == nil, errors.Wrapf(err, "cannot release Lease %q", client.ObjectKeyFromObject(before))
	}

	return false, nil
}
