// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// killed kills the container of a shard during an apply, without a warning. The next container of
// the same pod takes over at once, removes the lock that the apply has left, and repeats the apply.
func (s *Story) killed(ctx context.Context) error {
	const name = "stock"

	pod, release, err := s.applying(ctx, "", name, inShard(shard1))
	defer release()

	if err != nil {
		return err
	}

	p, err := s.instance(ctx, pod)
	if err != nil {
		return err
	}

	if err := s.Kill(p, p.Spec.Containers[0].Name); err != nil {
		return err
	}

	s.kills[p.GetUID()]++

	if _, err := s.expectWorking(ctx, name, 0); err != nil {
		return err
	}

	if err := wait.UntilTrue(ctx, "the kubelet has started the container again", func() bool {
		return s.witness.restarts(p.GetUID()) == s.kills[p.GetUID()]
	}); err != nil {
		return err
	}

	// A Lease that had to expire would take a minute.
	if err := wait.Until(ctx, wait.Soon, func() error {
		if working := s.things.Working(name); len(working) != 1 {
			return errors.Errorf("the next container has not begun to repeat the apply: %q", working)
		}

		return nil
	}); err != nil {
		return err
	}

	release()

	return errors.Join(s.expectReady(ctx, name), s.expectEvent(ctx, name, "RemovedOrphanLock", ""), s.expectCreatedBy(name, pod))
}
