// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// A move is a Workspace that has to get the label of another shard.
type move struct {
	workspace *metav1.PartialObjectMetadata
	from, to  string
}

// rebalance moves Workspaces where the placement wants them. changed says that the members have changed
// since the last time. It returns false if some may still have to move, because they or the members were
// changed meanwhile: no event follows, the assigner does not watch them. One that cannot be moved does not
// keep the others from moving.
func (a *Assigner) rebalance(ctx context.Context, m *membership, changed bool) (bool, error) {
	moves, version, err := a.plan(ctx, m, changed)

	var incomplete atomic.Bool

	// Not with the context of the group: it would end with the first error.
	g := errgroup.Group{}
	g.SetLimit(writers)

	for _, mv := range moves {
		g.Go(func() error {
			done, err := a.move(ctx, mv, m, version)
			if !done {
				incomplete.Store(true)
			}

			return err
		})
	}

	err = errors.Join(errors.Wrap(g.Wait(), "cannot move Workspaces"), err)

	return !incomplete.Load(), err
}

// plan lists the Workspaces that have the label of a shard, counts them, and returns those that have to
// move, with the version of the members that this holds for. No label is written meanwhile: it might be
// counted twice or not at all. After an error, the Workspaces of shards that are gone move nevertheless,
// as far as they were listed.
func (a *Assigner) plan(ctx context.Context, m *membership, changed bool) ([]move, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	var (
		all     []assignment
		listed  = map[types.UID]move{}
		errs    []error
		members = m.placement.members
	)

	for _, kind := range a.Kinds {
		_, err := listing.Each(ctx, a.Live, kind, func(ws *metav1.PartialObjectMetadata) error {
			at := assignmentOf(ws.GetUID(), ws.GetLabels())
			all = append(all, at)

			if !at.pinned {
				listed[at.uid] = move{workspace: compact(ws), from: at.shard}
			}

			return nil
		}, client.HasLabels{shard.LabelKey})

		errs = append(errs, errors.Wrapf(err, "cannot list the assigned objects of %s", kind.GroupKind()))
	}

	err := errors.Join(errs...)

	m.placement = newPlacement(members, all)
	arranged := m.placement.arrange(all, err == nil && (changed || m.placement.unbalanced()))

	var moves []move

	for _, uid := range slices.Sorted(maps.Keys(arranged)) {
		mv := listed[uid]
		mv.to = arranged[uid]
		moves = append(moves, mv)
	}

	return moves, m.version, err
}

// compact returns what a write of labels needs. Ten thousand whole objects would take too much memory.
func compact(ws *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   ws.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{Namespace: ws.GetNamespace(), Name: ws.GetName(), UID: ws.GetUID(), ResourceVersion: ws.GetResourceVersion()},
	}
}

// move writes the labels of a Workspace that was counted at its new shard already. It returns false if the
// Workspace may still have to move.
//
// The members do not change during the write: otherwise it could come after the list of those that have to
// leave a shard. If a write that had no answer takes effect after writeTimeout, the next resync moves the
// Workspace.
func (a *Assigner) move(ctx context.Context, mv move, m *membership, version int) (bool, error) {
	if err := a.limiter.Wait(ctx); err != nil {
		return false, err
	}

	m.mu.RLock()
	defer m.mu.RUnlock()

	if m.version != version {
		return false, nil
	}

	done, err := a.label(ctx, mv.workspace, mv.to)
	if !done {
		m.correct(mv.to, -1)
		m.correct(mv.from, 1)
	}

	return done, err
}

// assign writes the labels of a Workspace that has none, with the same precautions. It does nothing while
// no shard has an instance.
func (a *Assigner) assign(ctx context.Context, ws *metav1.PartialObjectMetadata, m *membership) error {
	if err := a.limiter.Wait(ctx); err != nil {
		return err
	}

	m.mu.RLock()
	defer m.mu.RUnlock()

	to := m.place(ws.GetUID())
	if to == "" {
		return nil
	}

	done, err := a.label(ctx, ws, to)
	if !done {
		m.correct(to, -1)
	}

	return err
}

// label writes the labels of a Workspace, and returns false if it did not. The write fails if the Workspace
// was changed since it was read: a person may just have pinned it, or another assigner may have moved it.
// That is no error.
func (a *Assigner) label(ctx context.Context, ws *metav1.PartialObjectMetadata, to string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()

	before := ws.DeepCopy()
	metav1.SetMetaDataLabel(&ws.ObjectMeta, shard.LabelKey, to)
	metav1.SetMetaDataLabel(&ws.ObjectMeta, shard.AssignedLabelKey, to)

	err := a.Kube.Patch(ctx, ws, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if kerrors.IsConflict(err) || kerrors.IsNotFound(err) {
		return false, nil
	}

	if err != nil {
		return false, errors.Wrapf(err, "cannot assign Workspace %q to shard %q", client.ObjectKeyFromObject(ws), to)
	}

	a.Metrics.Moved()

	return true, nil
}
