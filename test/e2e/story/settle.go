// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// settle checks what holds after every step:
//
//   - every Workspace is Ready, and its infrastructure was created once and not destroyed,
//   - the infrastructure of every deleted Workspace was created once and destroyed once,
//   - every Workspace is claimed by the instance that its labels select, once there are shards,
//   - no two runs worked on one thing at the same time, and no two Workspaces have one state,
//   - each creation was reported by one Event,
//   - no container was restarted that the story has not killed,
//   - the API server has refused nothing that an instance asked for.
func (s *Story) settle(ctx context.Context) error {
	if err := s.expectReady(ctx, slices.Sorted(maps.Keys(s.workspaces))...); err != nil {
		return err
	}

	if s.sharded {
		if err := s.expectServed(ctx); err != nil {
			return err
		}
	}

	return errors.Join(s.checkInfrastructure(), s.checkStates(ctx), s.checkCreations(ctx), s.checkRestarts(), s.checkLogs())
}

func (s *Story) checkInfrastructure() error {
	var all []error

	for name := range s.workspaces {
		all = append(all, errors.Wrapf(s.things.History(name).Once(0), "thing of Workspace %q", name))
	}

	for _, name := range s.deleted {
		all = append(all, errors.Wrapf(s.things.History(name).Once(1), "thing of deleted Workspace %q", name))
	}

	return errors.Join(all...)
}

// checkStates returns an error if two Workspaces have the same state.
func (s *Story) checkStates(ctx context.Context) error {
	owners := map[string]string{}

	return s.each(ctx, func(ws subject) error {
		lineage := ws.GetOwnership().Lineage
		if lineage == "" {
			return errors.New("its status does not say which state belongs to it")
		}

		if other, ok := owners[lineage]; ok {
			return errors.Errorf("it has the same state as Workspace %q", other)
		}

		owners[lineage] = ws.GetName()

		return nil
	})
}

// checkCreations waits until each creation was reported, and returns an error if it was reported more
// than once.
func (s *Story) checkCreations(ctx context.Context) error {
	return s.each(ctx, func(ws subject) error {
		reason, other := "CreatedExternalResource", "UpdatedExternalResource"
		if ws.repeated {
			reason, other = other, reason
		}

		if err := s.expectEvent(ctx, ws.GetName(), reason, ""); err != nil {
			return err
		}

		if got, not := s.witness.count(ws.GetUID(), reason, ""), s.witness.count(ws.GetUID(), other, ""); got != 1 || not != 0 {
			return errors.Errorf("want one Event %s and none %s, got %d and %d", reason, other, got, not)
		}

		return nil
	})
}

// checkRestarts returns an error if a container was restarted that the story has not killed.
func (s *Story) checkRestarts() error {
	var all []error

	for _, p := range s.witness.seenPods() {
		if want, got := s.kills[p.GetUID()], s.witness.restarts(p.GetUID()); want != got {
			all = append(all, errors.Errorf("pod %q: want its container to be started again %d times, got %d: %s", p.GetName(), want, got, describe(*p)))
		}
	}

	return errors.Join(all...)
}

// checkLogs returns the lines of all logs of instances that say that the API server has refused
// something.
func (s *Story) checkLogs() error {
	var refused []string

	for _, p := range s.witness.seenPods() {
		log, err := s.Log(p, p.Spec.Containers[0].Name)
		if err != nil {
			return errors.Wrapf(err, "cannot read the log of pod %q", p.GetName())
		}

		for line := range strings.Lines(log) {
			if isRefusal(line) {
				refused = append(refused, p.GetName()+": "+line)
			}
		}
	}

	if len(refused) > 0 {
		return errors.Errorf("the API server has refused something:\n%s", strings.Join(refused, ""))
	}

	return nil
}

func isRefusal(line string) bool {
	return slices.ContainsFunc([]string{"forbidden", "Unauthorized", "A right is missing"}, func(text string) bool { return strings.Contains(line, text) })
}

// expectLogged waits until the instance in a pod has written the supplied text to its log.
func (s *Story) expectLogged(ctx context.Context, p *corev1.Pod, text string) error {
	return wait.Until(ctx, wait.Patience, func() error {
		log, err := s.Log(p, p.Spec.Containers[0].Name)
		if err == nil && !strings.Contains(log, text) {
			err = errors.Errorf("the log of pod %q does not have %q", p.GetName(), text)
		}

		return err
	})
}
