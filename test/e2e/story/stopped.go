// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// stopped deletes a pod with two applies in progress. One of them ends in the time that a stopping
// instance gives to its runs. The other one is interrupted, and repeated by the next pod.
func (s *Story) stopped(ctx context.Context) error {
	const ends, isRepeated = "invoices", "ledger"

	pod, release, err := s.applying(ctx, "", ends, inShard(shard0))
	defer release()

	if err != nil {
		return err
	}

	second, repeat, err := s.applying(ctx, teamA, isRepeated, inShard(shard0))
	defer repeat()

	if err != nil {
		return err
	}

	if second != pod {
		return errors.Errorf("two Workspaces of one shard are applied by %q and %q", pod, second)
	}

	p, err := s.instance(ctx, pod)
	if err != nil {
		return err
	}

	if err := s.Client.Delete(ctx, p); err != nil {
		return err
	}

	if err := s.expectStopping(ctx, p); err != nil {
		return err
	}

	release()

	if err := s.expectInterrupted(ctx, isRepeated, pod); err != nil {
		return err
	}

	s.repeated(isRepeated)

	next, err := s.expectWorking(ctx, isRepeated, 1)
	if err != nil {
		return err
	}

	repeat()

	if err := s.expectReady(ctx, ends, isRepeated); err != nil {
		return err
	}

	if next[0] == pod {
		return errors.Errorf("pod %q was deleted, and has repeated the apply", pod)
	}

	return errors.Join(s.expectCreatedBy(ends, pod), s.expectCreatedBy(isRepeated, next[0]), s.expectGone(ctx, p))
}

// expectInterrupted waits until the run in the supplied pod has ended.
func (s *Story) expectInterrupted(ctx context.Context, name, pod string) error {
	return wait.UntilTrue(ctx, "the apply of "+name+" by "+pod+" has ended", func() bool {
		working := s.things.Working(name)

		return len(working) == 0 || working[0] != pod
	})
}

// expectStopping waits until the instance in a pod that was deleted has received SIGTERM.
func (s *Story) expectStopping(ctx context.Context, p *corev1.Pod) error {
	return s.expectLogged(ctx, p, "Stopping and waiting for")
}

// repeated records that the creation of a Workspace was interrupted.
func (s *Story) repeated(name string) {
	ws := s.workspaces[name]
	ws.repeated = true
	s.workspaces[name] = ws
}
