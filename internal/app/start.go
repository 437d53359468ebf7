// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// fillLimit is how long the caches may be empty because a right is missing. Controllers wait as
	// long for theirs.
	fillLimit = 2 * time.Minute

	// fillGrace is longer than a manager needs to note that its caches are filled.
	fillGrace = time.Second
)

// A filled runnable runs when the caches of the manager are filled, before the election.
type filled chan struct{}

func (f filled) Start(context.Context) error {
	close(f)

	return nil
}

func (f filled) NeedLeaderElection() bool { return false }

// start runs the manager until ctx is done. A manager waits for ever for caches that are refused,
// also when ctx is done, and uses all of a CPU then. Before they are filled it has started nothing
// that has to end.
func (i *instance) start(ctx context.Context) error {
	f := make(filled)
	if err := i.mgr.Add(f); err != nil {
		return errors.Wrap(err, "cannot add observer of caches")
	}

	ctx, cancel := i.setups.stopAfter(ctx)
	defer cancel()

	return i.waitFor(ctx, i.mgr, f)
}

func (i *instance) waitFor(ctx context.Context, m manager.Runnable, f filled) error {
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()

	limit := time.NewTicker(fillLimit)
	defer limit.Stop()

	for {
		select {
		case err := <-ended:
			return err
		case <-f:
			return <-ended
		case <-ctx.Done():
			select {
			case err := <-ended:
				return err
			case <-f:
				return <-ended
			case <-time.After(fillGrace):
				return nil
			}
		case <-limit.C:
			if i.unfilled.err() != nil {
				return errors.Errorf("waited for caches to sync for %s", fillLimit)
			}
		}
	}
}
