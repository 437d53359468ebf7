// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"context"
	"flag"
	"io"
	"slices"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

const opApply = "apply"

// ApplyOptions are the options of Apply.
type ApplyOptions struct {
	// PlanFile is the saved plan to apply. Without one, Apply makes its own. See AppliesSavedPlan.
	PlanFile string
	// Args are further arguments.
	Args []string
	// Progress, if not nil, is called for every event of a resource. It must not block.
	Progress func(Progress)
}

// Applied is the result of an apply. Of one that has failed, it has the warnings.
type Applied struct {
	Summary

	// Outputs of the root module, except null ones, and without sensitive values. It is nil if the CLI did
	// not print them.
	Outputs map[string]Output

	// Warnings of the run. One with a saved plan does not repeat those of the plan.
	Warnings Warnings
}

// Apply applies the saved plan, or makes and applies one in the same run.
func (c *CLI) Apply(ctx context.Context, ws Workspace, o ApplyOptions) (*Applied, error) {
	r, _, err := c.runJSON(ctx, ws, applyCommand(o), o.Progress)
	if err != nil {
		return &Applied{Warnings: r.warned(ws)}, err
	}

	return &Applied{Summary: r.total(), Outputs: r.outputs, Warnings: r.warned(ws)}, nil
}

// applyCommand puts the approval last. Without it there, a last argument that is the name of a file would be a
// saved plan, and the CLI writes to the state in the backend of that plan.
func applyCommand(o ApplyOptions) command {
	args := append([]string{"apply", "-json", "-input=false"}, o.Args...)

	return command{op: opApply, args: append(args, cmp.Or(o.PlanFile, "-auto-approve")), inWorkspace: true}
}

// AppliesSavedPlan reports whether `apply` has the same effect with a saved plan as without one,
// given these arguments and those from TF_CLI_ARGS and TF_CLI_ARGS_apply in env. Arguments that
// change the plan make a difference: with a saved plan, the CLI refuses them (-var) or, worse,
// ignores them (-refresh-only, -target). Unknown arguments count as such arguments.
func AppliesSavedPlan(args []string, env ...string) bool {
	return onlyHow(args) && onlyHow(environ.Args(env, "apply"))
}

// onlyHow reports whether the arguments change only the way in which the plan is applied, not the
// plan. It parses them as the CLI does.
func onlyHow(args []string) bool {
	accept := func(string) error { return nil }

	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)

	for _, name := range []string{"auto-approve", "compact-warnings", "concise", "consolidate-errors", "consolidate-warnings", "input", "json", "lock", "no-color", "show-sensitive"} {
		flags.BoolFunc(name, "", accept)
	}

	for _, name := range []string{"deprecation", "lock-timeout", "parallelism"} {
		flags.Func(name, "", accept)
	}

	// Parse accepts "--". The CLI would take our own arguments after it for the name of a plan file.
	return flags.Parse(args) == nil && flags.NArg() == 0 && !slices.Contains(args, "--")
}

const opDestroy = "destroy"

// Destroyed is the result of a destroy, also of one that has failed.
type Destroyed struct {
	Summary

	// Warnings of the run. Some resources only leave the state, and the provider says so there.
	Warnings Warnings
}

// Destroy destroys everything in the state of the workspace, which may be empty. progress, if not nil,
// is called for every event of a resource. It must not block.
func (c *CLI) Destroy(ctx context.Context, ws Workspace, args []string, progress func(Progress)) (Destroyed, error) {
	r, _, err := c.runJSON(ctx, ws, destroyCommand(args), progress)

	return Destroyed{Summary: r.total(), Warnings: r.warned(ws)}, err
}

func destroyCommand(args []string) command {
	return command{op: opDestroy, args: append([]string{"destroy", "-json", "-auto-approve", "-input=false"}, args...), inWorkspace: true}
}
