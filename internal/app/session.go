// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"sync"

	apiwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/fence"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// observe makes the observer of all sessions, and the leader election of this instance.
func (i *instance) observe(context.Context) error {
	i.sessions = session.NewObserver(i.unlimited, i.o.LeaseNamespace, i.o.Lease, i.log)

	if !i.hasSession {
		return nil
	}

	if err := checkInit(os.Getpid(), i.o, i.log); err != nil {
		return err
	}

	if i.o.HoldsLease {
		i.election = &session.Election{
			Config:    i.config,
			Kube:      i.unlimited,
			Namespace: i.o.LeaseNamespace,
			ID:        i.o.Shard,
			Identity:  i.identity,
			Timing:    i.o.Lease,
			Observer:  i.sessions,
			Lost:      i.fail,
			Log:       i.log,
		}
	}

	return nil
}

// A membership is what outlives the manager: the leader election and the session, which end when no run
// is left.
type membership struct {
	ctx, election       context.Context //nolint:containedctx // They are lifetimes, not those of calls.
	cancel, endElection context.CancelFunc
	wg, elections       sync.WaitGroup
}

func newMembership(ctx context.Context) *membership {
	m := &membership{}
	ctx = context.WithoutCancel(ctx)
	m.ctx, m.cancel = context.WithCancel(ctx)
	m.election, m.endElection = context.WithCancel(ctx)

	return m
}

// join waits until this process may work, and then adds all that does. A process with a session opens it
// when it is elected.
func (i *instance) join(ctx context.Context) error {
	if i.hasSession {
		err := i.openSession(ctx)
		// It is no failure if the process is stopping.
		if ctx.Err() != nil {
			return nil //nolint:nilerr // See above.
		}

		if err != nil {
			return err
		}
	}

	i.makeClaims()

	return i.setups.do(func() error { return errors.Join(i.addRunnables(ctx), i.addControllers(ctx)) })
}

func (i *instance) openSession(ctx context.Context) error {
	f, err := fence.New()
	if err != nil {
		return errors.Wrap(err, "cannot make fence")
	}

	if i.election != nil {
		i.members.elections.Go(func() {
			if err := i.election.Run(i.members.election); err != nil {
				i.log.Info("Leader election has ended, others wait until its Lease expires", "error", err)
			}
		})

		if err := i.election.Await(ctx); err != nil {
			return err
		}
	}

	so := session.Options{
		Kube:       i.unlimited,
		Namespace:  i.o.LeaseNamespace,
		ID:         i.o.Shard,
		Holder:     i.identity,
		Timing:     i.o.Lease,
		Fence:      f,
		Assignable: i.o.AssignShards,
		Record:     i.record,
		Over:       i.abort,
		Log:        i.log,
	}

	var s *session.Session

	err = apiwait.PollUntilContextCancel(ctx, i.o.Lease.RetryPeriod, true, func(ctx context.Context) (bool, error) {
		if s, err = session.Open(ctx, so); err != nil {
			i.log.Info("Cannot open a session, trying again", "error", err)

			failed := err // The next try overwrites err.
			i.unopened.Store(&failed)
		}

		return err == nil, nil
	})
	if err != nil {
		return err
	}

	i.session.Store(s)
	i.unopened.Store(nil)
	i.members.wg.Go(func() { s.Renew(i.members.ctx) })

	if i.election == nil {
		return nil
	}

	return i.election.Open(ctx, s.Claim().Lease)
}

// record notes the session for the next process of this pod.
func (i *instance) record(lease string) error {
	if i.process == nil {
		return nil
	}

	return i.process.Record(lease)
}

// begin begins a run of the CLI.
func (i *instance) begin(ctx context.Context, changes bool) (context.Context, func(), error) {
	if s := i.session.Load(); s != nil {
		return s.Begin(ctx, changes)
	}

	return ctx, func() {}, nil
}

// leave ends the session, and with it all claims, and then gives up the Lease of the leader election, so
// that a standby need not wait. No run is left. It returns why the session was over, if it was.
func (i *instance) leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()

	i.members.cancel()
	i.members.wg.Wait()

	s, ended := i.session.Load(), true

	if s != nil {
		if err := s.End(ctx); err != nil {
			ended = false

			i.log.Info("Cannot end the session, others wait until it expires", "error", err)
		}
	}

	if ended && i.process != nil {
		i.process.Remove()
	}

	i.members.endElection()

	released := make(chan struct{})

	go func() {
		defer close(released)

		i.members.elections.Wait()
	}()

	select {
	case <-released:
	case <-ctx.Done():
	}

	if s == nil {
		return nil
	}

	return s.Err()
}
