// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// An injector injects faults.
type injector struct {
	cluster    *controlplane.ControlPlane
	fleet      fleet
	workspaces *workspaces
	leases     *leaseKeeper
}

// inject injects the faults, and waits until all stopped processes and connections are
// back.
func (x *injector) inject(t *testing.T, faults []fault) {
	t.Helper()

	var wg sync.WaitGroup

	start := time.Now()

	for _, f := range faults {
		if err := wait.For(t.Context(), time.Until(start.Add(f.after))); err != nil {
			t.Fatal(err)
		}

		do := x.lasting(f)
		if do == nil {
			// Faults of Workspaces are injected in order: each depends on the ones before.
			if err := x.workspaces.do(t.Context(), f); err != nil {
				t.Fatalf("cannot %s: %v", f, err)
			}

			continue
		}

		wg.Go(func() {
			if err := do(t.Context()); err != nil {
				t.Errorf("cannot %s: %v", f, err)
			}
		})
	}

	wg.Wait()
}

// lasting returns the function for a fault that lasts while others are injected. It is nil
// for other kinds of faults.
func (x *injector) lasting(f fault) func(ctx context.Context) error {
	switch f.kind {
	case kill, terminate, pause:
		return func(ctx context.Context) error { return x.fleet[f.subject].disturb(ctx, f) }
	case restart:
		return func(ctx context.Context) error {
			defer x.workspaces.journal.add(note{kind: restart, text: f.String()})()

			return x.cluster.Restart(ctx, f.takes)
		}
	case hang, delay, refuse, oneWay:
		return func(ctx context.Context) error {
			x.fleet.leader(f).suffer(ctx, f)

			return nil
		}
	case outage:
		return func(ctx context.Context) error {
			x.fleet.outage(ctx, x.workspaces.journal, f)

			return nil
		}
	case drain:
		return func(ctx context.Context) error { return x.fleet.leader(f).drain(ctx, f) }
	case deleteLease, emptyLease, restoreLease:
		return func(ctx context.Context) error { return x.leases.do(ctx, f) }
	case restore:
		return func(ctx context.Context) error { return x.workspaces.restore(ctx, f) }
	case lose:
		return func(ctx context.Context) error { return x.fleet[f.shard].lose(ctx, f, x.workspaces) }
	default:
		return nil
	}
}
