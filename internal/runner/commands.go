// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// ErrStateTaken is the refusal to apply a plan for an empty state that is not empty any more.
var ErrStateTaken = errors.New("cannot apply: another process has created the state meanwhile")

// Plan makes a plan, with a lock on the state or without. If the plan file does not show the state that it
// was made from, because it is encrypted for example, Plan reads the state afterwards.
func (r *Runner) Plan(ctx context.Context, lock bool) (*terraform.Plan, error) {
	var p *terraform.Plan

	err := r.withInit(ctx, func() (err error) {
		p, err = r.CLI.Plan(ctx, *r.run, terraform.PlanOptions{
			Args: r.args(toPlan, r.Inputs.parameters.PlanArgs...),
			Out:  filepath.Join(r.Dir.Records(), planFile),
			Lock: lock,
		})

		return errors.Wrap(err, "cannot plan")
	})
	if err != nil {
		return nil, err
	}

	r.notSaved = p.File == ""
	p.Warnings = p.Warnings.WithPlan(r.warnings()).WithPlan(r.warnOfInputs()).WithPlan(r.unread())

	if p.Prior == nil {
		if p.Prior, err = r.State(ctx); err != nil {
			return nil, err
		}

		p.Prior.Gone = p.Prior.Managed // It does not have what the plan has found.
	}

	return p, nil
}

// ReadPlan reads a plan that is saved.
func (r *Runner) ReadPlan(ctx context.Context, p *terraform.Plan) (*terraform.Reading, error) {
	var reading *terraform.Reading

	err := r.withVariables(func(args ...string) (err error) {
		reading, err = r.CLI.ReadPlan(ctx, *r.run, p.File, args...)

		return err
	})

	return reading, err
}

// CLIVersion returns the product and the version of the CLI.
func (r *Runner) CLIVersion() string { return r.CLI.String() }

// Apply applies the supplied plan. If the plan is stale, it makes a new plan once, calls again with the
// new plan, and applies it if again returns no error.
func (r *Runner) Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.Plan) error, progress func(terraform.Progress)) (*terraform.Applied, error) {
	a, err := r.applyPlan(ctx, p, progress)
	if terraform.IsStalePlan(err) {
		created := p.Prior.Empty()

		if p, err = r.Plan(ctx, false); err != nil {
			return nil, err
		}

		// The next observation finds out the owner of the new state.
		if created && !p.Prior.Empty() {
			return nil, ErrStateTaken
		}

		if err := again(p); err != nil {
			return nil, err
		}

		a, err = r.applyPlan(ctx, p, progress)
	}

	if err != nil {
		err = errors.Wrap(r.hold(err), "cannot apply")
		if own := a.Warnings.Own(p.Warnings); own != nil {
			err = errors.Errorf("%w; warning: %s", err, strings.Join(own, "; "))
		}

		return nil, err
	}

	a.Warnings = a.Warnings.WithPlan(r.otherChanges(p.Summary, a.Summary))

	return a, nil
}

func (r *Runner) applyPlan(ctx context.Context, p *terraform.Plan, progress func(terraform.Progress)) (*terraform.Applied, error) {
	if !r.AppliesPlan() {
		return r.CLI.Apply(ctx, *r.run, terraform.ApplyOptions{Args: r.args(toPlan, r.Inputs.parameters.ApplyArgs...), Progress: progress})
	}

	run := *r.run
	run.Env = r.savedPlanEnv()

	return r.CLI.Apply(ctx, run, terraform.ApplyOptions{PlanFile: p.File, Args: r.args(toApplyPlan, r.Inputs.parameters.ApplyArgs...), Progress: progress})
}

// AppliesPlan says whether an apply uses the last plan, and so fails if the state has changed since.
func (r *Runner) AppliesPlan() bool { return r.WhyNewPlan() == "" }

// WhyNewPlan returns why an apply makes its own plan: because planArgs or applyArgs influence what is planned, and
// neither applies to the other command, or because the plan lacks something. It is empty if the apply uses the last
// plan. A saved plan has no values of ephemeral variables, for which the CLI would use their defaults.
func (r *Runner) WhyNewPlan() string {
	// If the module cannot be read, no variable is known to be ephemeral.
	declared, _ := r.declared()

	switch {
	case r.notSaved:
		return "the backend does not save plans"
	case declared.Ephemeral:
		return "a variable of the module is ephemeral"
	case !terraform.AppliesSavedPlan(r.Inputs.parameters.PlanArgs):
		return "spec.forProvider.planArgs has an argument that changes what is planned"
	case !terraform.AppliesSavedPlan(r.Inputs.parameters.ApplyArgs, r.run.Env...):
		return "spec.forProvider.applyArgs, TF_CLI_ARGS or TF_CLI_ARGS_apply has an argument that changes what is planned"
	default:
		return ""
	}
}

// Destroy destroys everything in the state. If it has to
// initialize again, the backend may be another one. Then it continues only if again returns no error.
func (r *Runner) Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (terraform.Destroyed, error) {
	destroyed, tries := terraform.Destroyed{}, 0

	err := r.withInit(ctx, func() error {
		if tries++; tries > 1 {
			if err := again(); err != nil {
				return err
			}
		}

		args, doing := r.args(toPlan, r.Inputs.parameters.DestroyArgs...), "cannot destroy"

		imports, err := r.destroyImports(ctx)
		if err != nil {
			return err
		}

		if imports {
			// An import is a part of the refresh. The last of these options counts.
			args, doing = append(args, "-refresh=false"), "cannot destroy (without a refresh, which would import what import blocks name and the state lacks)"
		}

		destroyed, err = r.CLI.Destroy(ctx, *r.run, args, progress)

		// No other process can make a lock there, either.
		if terraform.LacksNamespace(err) && !terraform.Began(err) {
			destroyed, err = r.CLI.Destroy(ctx, *r.run, append(args, "-lock=false"), progress)
		}

		return errors.Wrap(r.hold(err), doing)
	})

	return destroyed, err
}

// CheckDestroy returns an error if a destroy would destroy what the module says is to be kept: the CLIs do not heed removed blocks that
// no apply has made. It also returns the errors of CheckUnread. The called modules are those of the last init: if a destroy initializes
// again, they have to be checked again.
func (r *Runner) CheckDestroy(s *terraform.State) error {
	err := r.CheckUnread(s)
	if err == nil {
		err = r.checkRemoved(s)
	}

	// The module may call others than those of the last init, and a refused destroy does not ask for the next one.
	if err != nil && !r.inStateDir {
		err = errors.Join(err, r.Dir.ClearInitialized())
	}

	return err
}

func (r *Runner) checkRemoved(s *terraform.State) error {
	for _, from := range r.readModules().removed {
		if address := s.Find(from); address != "" {
			upgrade := ""
			if strings.HasPrefix(address, "module.") {
				upgrade = " (with -upgrade in spec.forProvider.initArgs, if the source of a called module is a branch)"
			}

			return errors.Errorf("the module has a removed block for %s, which is still in the state, and a destroy does not heed it. Nothing was destroyed. To destroy it, remove the block%s. To keep it, remove it from the state", address, upgrade)
		}
	}

	return nil
}

// destroyImports says whether a destroy would first make an import that no apply has made, or whose resource an earlier
// destroy has destroyed, and then destroy what it has imported. Both CLIs do so before version 1.9.
func (r *Runner) destroyImports(ctx context.Context) (bool, error) {
	if r.CLI.Since(terraform.Terraform, "1.9.0") || r.CLI.Since(terraform.OpenTofu, "1.9.0") {
		return false, nil
	}

	if slices.Contains(slices.Concat(r.Inputs.parameters.DestroyArgs, environ.Args(r.run.Env, "destroy")), "-refresh=false") {
		return false, nil
	}

	declared, err := r.declared()
	if err != nil || len(declared.Imports) == 0 {
		return false, err
	}

	var found []string

	err = r.withVariables(func(args ...string) (err error) {
		found, err = r.CLI.ListState(ctx, *r.run, args...)

		return err
	})

	return slices.ContainsFunc(declared.Imports, func(address string) bool {
		return address == "" || !slices.Contains(found, address) // That of a block with for_each is empty.
	}), errors.Wrap(err, "cannot read state")
}

// State returns the whole state, sensitive outputs included.
func (r *Runner) State(ctx context.Context) (*terraform.State, error) {
	var st *terraform.State

	err := r.useState(ctx, func(args ...string) (err error) {
		st, err = r.CLI.PullState(ctx, *r.run, args...)

		return errors.Wrap(err, "cannot read state")
	})

	return st, err
}

// Unlock removes the lock of the supplied ID from the state.
func (r *Runner) Unlock(ctx context.Context, id string) error {
	return r.useState(ctx, func(args ...string) error {
		return errors.Wrapf(r.CLI.Unlock(ctx, *r.run, id, args...), "cannot remove lock %s", id)
	})
}

// DeleteWorkspace deletes the Terraform workspace, which must be empty.
func (r *Runner) DeleteWorkspace(ctx context.Context) error {
	return r.useState(ctx, func(args ...string) error {
		return errors.Wrap(r.CLI.DeleteWorkspace(ctx, *r.run, args...), "cannot delete Terraform workspace")
	})
}
