// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/assigner"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// addAssigner adds the assigner to the manager, if this instance takes part in its election.
func (i *instance) addAssigner(context.Context) error {
	if !i.o.AssignShards {
		return nil
	}

	return errors.Wrap(i.mgr.Add(&assigner.Assigner{
		Config:    i.config,
		Namespace: i.o.LeaseNamespace,
		Identity:  i.identity,
		Kinds:     workspace.GroupVersionKinds(),
		Live:      i.mgr.GetAPIReader(),
		Kube:      i.mgr.GetClient(),
		Leases:    i.leases,
		Grace:     i.o.ShardGracePeriod,
		Rate:      i.o.AssignRate,
		Metrics:   i.metrics,
		Log:       i.log.WithValues("component", "assigner"),
	}), "cannot add assigner")
}
