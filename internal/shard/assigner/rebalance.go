// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package assigner

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// writers is the number of Workspaces that are moved at the same time.
const writers = 8

// A membership is what the assigner knows about the shards.
type membership struct {
	mu      sync.Mutex
	members []string

	// balanced are the members for which all assigned Workspaces are known to be in their place.
	balanced []string

	// forgot is when the Leases of shards that are gone were last deleted. Only follow uses it.
	forgot time.Time
}

func (m *membership) get() []string {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.members
}

// set returns whether Workspaces may have to move.
func (m *membership) set(members []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.members = members

	return !slices.Equal(members, m.balanced)
}

func (m *membership) settle(members []string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.balanced = members
}

// rebalance moves the Workspaces that an assigner has assigned to where they belong. It lists
// their metadata in pages, so that its memory does not depend on their number. It returns false if
// some were changed meanwhile and may still have to move: no event follows, because the assigner
// does not watch them.
func (a *Assigner) rebalance(ctx context.Context, members []string) (bool, error) {
	complete := true

	for _, kind := range a.Kinds {
		moved := 0

		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(writers)

		var mu sync.Mutex

		_, err := listing.Each(gctx, a.Live, kind, listing.PageSize, func(ws *metav1.PartialObjectMetadata) error {
			if _, move := Decide(Situation{UID: ws.GetUID(), Labels: ws.GetLabels(), Members: members}); !move {
				return nil
			}

			g.Go(func() error {
				done, err := a.assign(gctx, ws, members)

				mu.Lock()
				defer mu.Unlock()

				if done {
					moved++
				} else {
					complete = false
				}

				return err
			})

			return nil
		}, client.HasLabels{shard.AssignedLabelKey})

		if err := errors.Join(g.Wait(), err); err != nil {
			return false, errors.Wrapf(err, "cannot rebalance objects of %s", kind.GroupKind())
		}

		a.Metrics.Moved(moved)
	}

	return complete, nil
}
