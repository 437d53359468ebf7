// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// An external is the client of one Terraform workspace during one pass of the managed reconciler. The
// applier has Create and Update, the destroyer Delete.
type external struct {
	*pass
	*planner
	*applier
	*destroyer

	cli closer

	// observation is the result of observe, or failure its error, which Observe returns.
	observation managed.ExternalObservation
	failure     error
}

// A closer removes all secrets from the disk.
type closer interface {
	Close() error
}

// newExternal returns an external whose parts run the CLI with the supplied runner.
func newExternal(ps *pass, cli workspaceRunner) *external {
	states := &kubernetesStates{pass: ps, backend: cli}
	locks := &locker{pass: ps, cli: cli, states: states}
	guard := &stateGuard{pass: ps, cli: cli, states: states}
	unsaved := &unsavedState{pass: ps, cli: cli, state: cli, runs: cli, locks: locks}

	return &external{
		pass:      ps,
		planner:   &planner{pass: ps, cli: cli, states: states, locks: locks, guard: guard, unsaved: unsaved, approver: &approver{pass: ps, cli: cli}},
		applier:   &applier{pass: ps, cli: cli, state: cli, locks: locks, guard: guard, unsaved: unsaved},
		destroyer: &destroyer{pass: ps, cli: cli, state: cli, module: cli, states: states, locks: locks, guard: guard, unsaved: unsaved},
		cli:       cli,
	}
}

// observeInConnect observes the Workspace and keeps the result for Observe. After an UnpreparedError,
// which it returns, there is nothing to disconnect.
func (e *external) observeInConnect(ctx context.Context, ws workspace.Workspace) error {
	if e.failure = e.endPause(ctx, ws); e.failure == nil {
		e.observation, e.failure = e.observe(ctx, ws)
		e.applier.plan, e.exists = e.planner.plan, e.observation.ResourceExists
	}

	if !errors.As(e.failure, &runner.UnpreparedError{}) {
		return nil
	}

	return redactErr(e.secrets, errors.Join(e.failure, e.cli.Close()))
}

// Observe returns the result of the observation that the connector has made.
func (e *external) Observe(_ context.Context, ws workspace.Workspace) (managed.ExternalObservation, error) {
	switch {
	case errors.Is(e.failure, errNoSlot), errors.Is(e.failure, errPausedAgain):
		return managed.ExternalObservation{}, e.failure
	case e.failure != nil:
		return managed.ExternalObservation{}, e.failed(ws, e.failure)
	// It is a failure that nothing exists to observe, also for policies for which the managed reconciler does not say so: it would
	// remove all keys from the connection Secret. Nothing is retried before the next poll.
	case !e.observation.ResourceExists && nothingFollows(ws, false):
		e.succeeded(ws)

		return managed.ExternalObservation{}, errors.New(nothingToObserve)
	}

	return e.observation, nil
}

// Disconnect removes all secrets from the disk.
func (e *external) Disconnect(_ context.Context) error {
	return e.cli.Close()
}
