// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// writers is the number of Workspaces that are moved at the same time.
const writers = 8

// rebalance moves the Workspaces that an assigner has assigned to where they belong. It returns
// false if some may still have to move, because they were changed meanwhile: no event follows, the
// assigner does not watch them. One that cannot be moved does not keep the others from moving.
func (a *Assigner) rebalance(ctx context.Context, m *membership) (bool, error) {
	complete := true

	var errs []error

	for _, kind := range a.Kinds {
		done, err := a.rebalanceKind(ctx, m, kind)
		complete = complete && done

		errs = append(errs, errors.Wrapf(err, "cannot rebalance objects of %s", kind.GroupKind()))
	}

	return complete, errors.Join(errs...)
}

// rebalanceKind lists the metadata of all Workspaces of a kind in pages, so that its memory does
// not depend on their number. It returns the first error.
func (a *Assigner) rebalanceKind(ctx context.Context, m *membership, kind schema.GroupVersionKind) (bool, error) {
	// Not with the context of the group: it would end with the first error.
	g := errgroup.Group{}
	g.SetLimit(writers)

	var incomplete atomic.Bool

	_, err := listing.Each(ctx, a.Live, kind, listing.PageSize, func(ws *metav1.PartialObjectMetadata) error {
		if _, move := Decide(ws.GetUID(), ws.GetLabels(), m.get()); move {
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

	err = errors.Join(g.Wait(), err)

	return !incomplete.Load(), err
}
