// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	shard0 = "shard-0"
	shard1 = "shard-1"
)

// static changes one instance to static shards as docs/sharding.md says: the shards start, the
// instance of the package becomes the catch-all, and then Workspaces get labels.
func (s *Story) static(ctx context.Context) error {
	if err := s.deploy(ctx, "static-package", s.first); err != nil {
		return err
	}

	if err := s.expectInstances(ctx, 3, s.first); err != nil {
		return err
	}

	s.sharded = true

	// The catch-all has all of them now.
	if err := s.expectServed(ctx); err != nil {
		return err
	}

	for name, to := range map[string]string{"orders": shard0, "network": shard0, "refunds": shard1, "cache": shard1} {
		if err := s.relabel(ctx, name, to); err != nil {
			return err
		}
	}

	if err := s.expectServed(ctx); err != nil {
		return err
	}

	return s.handOver(ctx)
}

// handOver moves an idle Workspace, and one with an apply in progress, to another shard. The second
// shard gets the second Workspace only after the first shard has finished the apply.
func (s *Story) handOver(ctx context.Context) error {
	if err := s.relabel(ctx, "orders", shard1); err != nil {
		return err
	}

	const name = "billing"

	pod, release, err := s.applying(ctx, "", name, inShard(shard0))
	defer release()

	if err != nil {
		return err
	}

	if err := s.relabel(ctx, name, shard1); err != nil {
		return err
	}

	if err := s.expectEvent(ctx, name, "WaitingForOwner", ""); err != nil {
		return err
	}

	ws := s.workspaces[name]
	if err := s.read(ctx, ws.Workspace); err != nil {
		return err
	}

	if c := ws.GetOwnership().Claim; c == nil || hostOf(c.Holder) != pod {
		return errors.Errorf("Workspace %q is claimed by %v during an apply of %q", name, c, pod)
	}

	release()

	if err := s.expectServed(ctx); err != nil {
		return err
	}

	return s.expectCreatedBy(name, pod)
}
