// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// plan what has to be done, with a lock on the state or without.
func (s *session) plan(ctx context.Context, lock bool) (*terraform.Plan, error) {
	var p *terraform.Plan

	err := s.initialized(ctx, func() (err error) {
		p, err = s.cli.Plan(ctx, *s.target, terraform.PlanOptions{
			VarFiles: s.varFiles,
			Args:     s.in.parameters.PlanArgs,
			Out:      filepath.Join(s.dir.Path(), planFile),
			Lock:     lock,
		})

		return errors.Wrap(err, "cannot plan")
	})
	if err != nil {
		return nil, err
	}

	// It is shown in the status.
	for i, address := range p.Drift {
		p.Drift[i] = s.in.secrets.Text(address)
	}

	return p, nil
}

// apply the supplied plan, or one that is made now if there is none. A plan that
// became stale, because the state changed meanwhile, is made again, once, provided
// that again has nothing against the state that it is made from.
func (s *session) apply(ctx context.Context, p *terraform.Plan, again func(*terraform.State) error, progress func(terraform.Progress)) (*terraform.Applied, error) {
	a, err := s.applyPlan(ctx, p, progress)
	if terraform.IsStalePlan(err) {
		created := p.Prior.Empty()

		var prior *terraform.State
		if p, prior, err = s.planned(ctx, false); err != nil {
			return nil, err
		}

		// Whoever made a state where there was none may think that it is his. The
		// next look finds out.
		if created && !prior.Empty() {
			return nil, takenError{}
		}

		if err := again(prior); err != nil {
			return nil, err
		}

		a, err = s.applyPlan(ctx, p, progress)
	}

	return a, errors.Wrap(err, "cannot apply")
}

// planned makes a plan and tells which state it is made from.
func (s *session) planned(ctx context.Context, lock bool) (*terraform.Plan, *terraform.State, error) {
	p, err := s.plan(ctx, lock)
	if err != nil {
		return nil, nil, err
	}

	if p.Prior != nil {
		return p, p.Prior, nil
	}

	// The plan does not tell, because it is encrypted for example.
	prior, err := s.state(ctx)

	return p, prior, err
}

func (s *session) applyPlan(ctx context.Context, p *terraform.Plan, progress func(terraform.Progress)) (*terraform.Applied, error) {
	o := terraform.ApplyOptions{Args: s.in.parameters.ApplyArgs, VarFiles: s.varFiles, Progress: progress}

	// planArgs and applyArgs do not influence one another. With arguments of either
	// that make another plan, the one at hand is not what is to be applied.
	if terraform.AppliesSavedPlan(s.in.parameters.PlanArgs) {
		o.PlanFile = p.File
	}

	return s.cli.Apply(ctx, *s.target, o)
}

// appliesPlan says whether an apply carries out the plan that it is given, and fails if the
// state has changed since.
func (s *session) appliesPlan() bool {
	return terraform.AppliesSavedPlan(s.in.parameters.PlanArgs) && terraform.AppliesSavedPlan(s.in.parameters.ApplyArgs, s.target.Env...)
}

// destroy everything that is in the state, and return how many resources those were.
func (s *session) destroy(ctx context.Context, progress func(terraform.Progress)) (int, error) {
	destroyed := 0

	err := s.initialized(ctx, func() error {
		sum, err := s.cli.Destroy(ctx, *s.target, terraform.DestroyOptions{
			VarFiles: s.varFiles,
			Args:     s.in.parameters.DestroyArgs,
			Progress: progress,
		})

		if sum != nil {
			destroyed = sum.Destroy
		}

		return errors.Wrap(err, "cannot destroy")
	})

	return destroyed, err
}

// state returns the whole state, sensitive outputs included.
func (s *session) state(ctx context.Context) (*terraform.State, error) {
	var st *terraform.State

	err := s.initialized(ctx, func() (err error) {
		st, err = s.cli.PullState(ctx, *s.target)

		return errors.Wrap(err, "cannot read state")
	})

	return st, err
}

// unlock removes the lock of the supplied ID from the state.
func (s *session) unlock(ctx context.Context, id string) error {
	return s.initialized(ctx, func() error {
		return errors.Wrapf(s.cli.Unlock(ctx, *s.target, id), "cannot remove lock %s", id)
	})
}

// deleteWorkspace deletes the Terraform workspace, which has to be empty.
func (s *session) deleteWorkspace(ctx context.Context) error {
	return s.initialized(ctx, func() error {
		return errors.Wrap(s.cli.DeleteWorkspace(ctx, *s.target), "cannot delete Terraform workspace")
	})
}

// A takenError is the refusal to apply a plan that was to make a state, because
// another process has made one meanwhile.
type takenError struct{}

func (takenError) Error() string {
	return "cannot apply: another process has created the state meanwhile"
}
