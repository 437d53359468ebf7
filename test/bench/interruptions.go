// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// records are where the processes of a pod leave the proof of their death. It is lost with
	// the node.
	records = "/dev/shm/crossplane-provider-terraform-"
)

// interruptions measures how long people wait for a change at a bad time: when the instance has
// just been killed, when it was lost with its node, and when all polls are overdue.
func (b *bench) interruptions(ctx context.Context, r *report) error {
	names := namesOf("interrupted", b.overdue)
	all := workspacesOf(names, dataModule)

	f, err := b.newFloor("interruptions", dataModule, 8)
	if err != nil {
		return err
	}

	b.sayf("interruptions: creation of %d Workspaces", len(all))

	i, err := b.startInstance(ctx, "interruptions", 8)
	if err != nil {
		return err
	}
	defer func() { i.Kill() }()

	if _, err := b.untilReady(ctx, all); err != nil {
		return err
	}

	for _, lost := range []bool{false, true} {
		took, next, err := b.crash(ctx, i, all[0], lost)
		if err != nil {
			return err
		}

		i = next

		m := interruption{What: "container killed: a change is Ready after", Seconds: took, Target: containerTarget}
		if lost {
			m.What, m.Target = "node lost: a change is Ready after", nodeTarget
		}

		r.Interruptions = append(r.Interruptions, m)
	}

	if err := errors.Join(i.stop(), f.create(ctx, names)); err != nil {
		return err
	}

	// The creation is not part of the measurement.
	f.take()
	f.workers = 1

	b.sayf("interruptions: bare CLI, plans of %d", len(all))

	if err := f.poll(ctx, names, 1000); err != nil {
		return err
	}

	changed, polled, err := b.storm(ctx, all)
	if err != nil {
		return err
	}

	r.Interruptions = append(r.Interruptions,
		interruption{What: "all polls overdue: a change is Ready after", Seconds: changed, Target: changeTarget},
		interruption{What: "all polls overdue: time until all " + plural(len(all), "Workspace") + " were polled", Seconds: polled, Floor: f.take().Wall, Target: stormTarget},
	)

	return b.clear(ctx)
}

// crash kills the instance, changes a Workspace, and starts another instance at once, as a
// kubelet does. It returns how long after the kill the change was Ready, in seconds. If the node
// is lost, nothing proves that the instance is dead.
func (b *bench) crash(ctx context.Context, i *instance, ws *namespacedv1beta1.Workspace, lost bool) (float64, *instance, error) {
	b.sayf("interruptions: SIGKILL, node lost: %t", lost)

	l, err := b.lease(ctx)
	if err != nil {
		return 0, i, err
	}

	start := time.Now()

	i.Kill()

	if lost {
		if err := os.Remove(records + filepath.Base(ptr.Deref(l.Spec.HolderIdentity, ""))); err != nil {
			return 0, i, errors.Wrap(err, "cannot remove the record of the instance")
		}
	}

	// The instance that ended stays the current one if there is no other.
	_, err = b.untilChanged(ctx, ws, func() error {
		next, err := b.startInstance(ctx, "interruptions", 1)
		if err == nil {
			i = next
		}

		return err
	})

	return time.Since(start).Seconds(), i, err
}

// storm starts an instance of which all polls are due at once, and changes a Workspace meanwhile. It
// returns how long the change took, and how long the polls took since the start of the first
// one.
func (b *bench) storm(ctx context.Context, all []*namespacedv1beta1.Workspace) (changed, polled float64, err error) {
	b.sayf("interruptions: overdue polls of %d Workspaces", len(all))

	err = b.withInstance(ctx, "interruptions", 1, func(i *instance) error {
		if err := i.plans(ctx, 1); err != nil {
			return err
		}

		start := time.Now()

		took, err := b.untilChanged(ctx, all[len(all)/2], func() error { return nil })
		if err != nil {
			return err
		}

		err = i.plans(ctx, len(all))
		changed, polled = took.Seconds(), time.Since(start).Seconds()

		return err
	}, "--poll=1s")

	return changed, polled, err
}

// lease returns the Lease of an instance without a shard.
func (b *bench) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{}

	return l, b.plane.Kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: shard.ID{}.LeaseName()}, l)
}

// plans waits until the instance has made the supplied number of plans.
func (i *instance) plans(ctx context.Context, n int) error {
	return i.until(ctx, 0, func(s series) error {
		if made := s.sum(cliRuns, "plan"); made < float64(n) {
			return errors.Errorf("%g of %d plans", made, n)
		}

		return nil
	})
}

// untilChanged changes the variable of a Workspace, calls fn, and returns how long after the
// change the Workspace was Ready with it.
func (b *bench) untilChanged(ctx context.Context, ws *namespacedv1beta1.Workspace, fn func() error) (time.Duration, error) {
	key := client.ObjectKeyFromObject(ws)
	if err := b.plane.Kube.Get(ctx, key, ws); err != nil {
		return 0, err
	}

	start := time.Now()
	ws.Spec.ForProvider.Vars[0].Value = start.String()

	if err := errors.Join(b.plane.Kube.Update(ctx, ws), fn()); err != nil {
		return 0, err
	}

	generation := ws.GetGeneration()

	err := wait.Until(ctx, 5*wait.Patience, func() error {
		if err := b.plane.Kube.Get(ctx, key, ws); err != nil {
			return err
		}

		if ready := ws.GetCondition(xpv2.TypeReady); ready.Status != corev1.ConditionTrue || ready.ObservedGeneration < generation {
			return errors.Errorf("%s is not Ready with the change", key)
		}

		return nil
	})

	return time.Since(start), err
}

// An interruption is how long people wait at a bad time.
type interruption struct {
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`

	// Floor is how long the bare CLI takes, zero if there is nothing to compare with.
	Floor float64 `json:"floor,omitempty"`

	// Target is the longest time, or the largest ratio to the floor.
	Target float64 `json:"target"`
}

func (i interruption) row() row {
	r := row{0: i.What, 1: seconds(i.Seconds)}

	if i.Floor == 0 {
		return r.bounded(i.Seconds, i.Target, atMost, seconds)
	}

	r[2] = seconds(i.Floor) + " bare CLI"

	return r.judged(i.Seconds/i.Floor, i.Target, atMost)
}
