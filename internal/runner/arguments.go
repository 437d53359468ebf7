// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A purpose is what a run of the CLI does with variables.
type purpose int

const (
	// toInit evaluates variables in the sources of modules and in the backend, if the CLI supports them there.
	toInit purpose = iota
	// toPlan makes a plan: plan, destroy, and an apply without a saved plan.
	toPlan
	// toApplyPlan applies a saved plan, which has the values of the variables.
	toApplyPlan
	// toUseState uses the state without a plan: "state pull", "state push", force-unlock, "workspace delete".
	toUseState
)

// args returns the arguments of a run: the files of variables, if the CLI reads them in such a run, and the
// arguments of the Workspace, which take precedence.
func (r *Runner) args(to purpose, own ...string) []string {
	var args []string

	if r.takesVariables(to) {
		for _, name := range r.varFiles {
			args = append(args, "-var-file="+filepath.Join(r.run.Dir, name))
		}
	}

	return append(args, own...)
}

func (r *Runner) takesVariables(to purpose) bool {
	switch to {
	case toApplyPlan:
		// OpenTofu fails if a value differs from the one in the plan, also if it is from a file that it loads by
		// itself, such as terraform.tfvars. Terraform uses those in the plan. It refuses other ones, and earlier
		// versions of both CLIs refuse any.
		return r.CLI.Since(terraform.OpenTofu, "1.11.0")
	case toUseState:
		// The backend, or the encryption of the state, may depend on variables. Otherwise a file that cannot be
		// parsed must not keep a Workspace without resources from being deleted. Terraform refuses the arguments.
		return r.CLI.Since(terraform.OpenTofu, "1.8.0") && r.stateUsesVariables()
	case toInit, toPlan:
	}

	return true
}

// stateUsesVariables says whether the root module makes the place of the state depend on variables.
func (r *Runner) stateUsesVariables() bool {
	uses := false
	err := r.eachFile(func(name string, src []byte, err error) {
		uses = uses || err != nil || terraform.InitUsesVariables(src, name)
	})

	return uses || err != nil
}

// useState calls run in a directory that is initialized, with the arguments of a run that uses the state.
func (r *Runner) useState(ctx context.Context, run func(args ...string) error) error {
	return r.withInit(ctx, func() error { return r.withVariables(run) })
}

// withVariables calls run with the arguments of a run that uses the state. OpenTofu needs variables in more places
// than stateUsesVariables reads, such as modules of modules and for_each of a provider. Then it calls run again: without a
// value or with the default of a variable, it fails there in many ways.
func (r *Runner) withVariables(run func(args ...string) error) error {
	args := r.args(toUseState)

	err := run(args...)
	if all := r.args(toPlan); terraform.MayNeedVariables(err) && len(args) < len(all) && r.CLI.Since(terraform.OpenTofu, "1.8.0") {
		return run(all...)
	}

	return err
}

// savedPlanEnv returns the environment of an apply of a saved plan. If the run takes variables, those in
// TF_CLI_ARGS_plan are among them. They stay in the environment, because everyone can read arguments.
func (r *Runner) savedPlanEnv() []string {
	if !r.takesVariables(toApplyPlan) {
		return r.run.Env
	}

	const variable = "TF_CLI_ARGS_apply"

	value, _ := environ.Lookup(r.run.Env, "TF_CLI_ARGS_plan")

	flags := environ.Flags(environ.Words(value), "-var", "-var-file")
	if len(flags) == 0 {
		return r.run.Env
	}

	value, _ = environ.Lookup(r.run.Env, variable)

	return append(slices.Clone(r.run.Env), variable+"="+value+" "+environ.Quote(flags))
}

// DestroyLacksVariables says whether arguments of a plan or an apply set variables that those of a destroy do not set.
func (r *Runner) DestroyLacksVariables() bool {
	p := r.Inputs.parameters
	set := func(command string, args []string) []string {
		return namesOfVariables(slices.Concat(environ.Args(r.Inputs.env, command), args))
	}
	destroy := set("destroy", p.DestroyArgs)

	return slices.ContainsFunc(slices.Concat(set("plan", p.PlanArgs), set("apply", p.ApplyArgs)), func(name string) bool { return !slices.Contains(destroy, name) })
}

// namesOfVariables returns the variables that arguments set, and the files of variables that they name.
func namesOfVariables(args []string) []string {
	var names []string

	flags := environ.Flags(args, "-var", "-var-file")
	for i, flag := range flags {
		name, value, ok := environ.Option(flag)

		switch {
		case !strings.HasPrefix(flag, "-"):
			continue // It is the value of the last one.
		case !ok && i+1 < len(flags):
			value = flags[i+1]
		}

		if name == "var" {
			value, _, _ = strings.Cut(value, "=")
		}

		names = append(names, name+"="+path.Clean(value))
	}

	return names
}
