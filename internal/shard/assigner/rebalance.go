// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// writers is the number of Workspaces that are moved at the same time.
const writers = 8

// writeTimeout limits one write of labels. A change of the members waits for the writes in progress, and
// all others wait for that change. By default a webhook has ten seconds to answer. After that, the API
// server may accept the write without it.
const writeTimeout = 15 * time.Second

// rebalance moves the Workspaces that an assigner has assigned to where they belong. It returns
// false if some may still have to move, because they were changed meanwhile: no event follows, the
// assigner does not watch them. One that cannot be moved does not keep the others from moving.
func (a *Assigner) rebalance(ctx context.Context, m *membership) (bool, error) {
	var (
		incomplete atomic.Bool
		errs       []error
	)

	for _, kind := range a.Kinds {
		// Not with the context of the group: it would end with the first error.
		g := errgroup.Group{}
		g.SetLimit(writers)

		_, err := listing.Each(ctx, a.Live, kind, func(ws *metav1.PartialObjectMetadata) error {
			members, _ := m.get()
			if _, move := Decide(ws.GetUID(), ws.GetLabels(), members); move {
				g.Go(func() error {
					done, err := a.assign(ctx, ws, m)
					if !done {
						incomplete.Store(true)
					}

					return err
				})
			}

			return ctx.Err()
		}, client.HasLabels{shard.AssignedLabelKey})

		errs = append(errs, errors.Wrapf(errors.Join(g.Wait(), err), "cannot rebalance objects of %s", kind.GroupKind()))
	}

	return !incomplete.Load(), errors.Join(errs...)
}

// assign decides where a Workspace belongs, and writes its labels if that is not where it is. It
// returns false if the Workspace may still have to move, and true while no shard has an instance: there
// is no place to move to.
//
// The write fails if the Workspace was changed since it was read: a person may just have pinned
// it, or another assigner may have moved it. The members do not change during the write: otherwise
// it could come after the list of those that have to leave a shard. If a write that had no answer takes
// effect after writeTimeout, the next resync moves the Workspace.
func (a *Assigner) assign(ctx context.Context, ws *metav1.PartialObjectMetadata, m *membership) (bool, error) {
	if err := a.limiter.Wait(ctx); err != nil {
		return false, err
	}

	m.mu.RLock()
	defer m.mu.RUnlock()

	to, move := Decide(ws.GetUID(), ws.GetLabels(), m.members)
	if !move {
		return true, nil
	}

	err := a.label(ctx, ws, to)

	switch {
	case kerrors.IsConflict(err), kerrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	}

	a.Metrics.Moved()

	return true, nil
}

// label writes the labels of a Workspace, if it is unchanged since it was read.
func (a *Assigner) label(ctx context.Context, ws *metav1.PartialObjectMetadata, to string) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()

	before := ws.DeepCopy()
	metav1.SetMetaDataLabel(&ws.ObjectMeta, shard.LabelKey, to)
	metav1.SetMetaDataLabel(&ws.ObjectMeta, shard.AssignedLabelKey, to)

	return errors.Wrapf(a.Kube.Patch(ctx, ws, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})), "cannot assign Workspace %q to shard %q", client.ObjectKeyFromObject(ws), to)
}
