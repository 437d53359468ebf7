// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// exitChanges is the exit code of a plan with -detailed-exitcode that has changes.
const exitChanges = 2

const opPlan = "plan"

// PlanOptions are the options of Plan.
type PlanOptions struct {
	// Args are further arguments.
	Args []string
	// Lock the state while the plan is made.
	Lock bool
	// Out is the absolute path of the file for the plan. An existing file is replaced.
	Out string
}

// A Plan holds the changes that make the infrastructure match the configuration.
type Plan struct {
	// File is the saved plan, which contains secrets: the caller must remove it. It is empty if the backend
	// makes plans elsewhere and does not save them.
	File string
	// Changes says whether there is anything to apply, even if only an output.
	Changes bool
	Summary Summary
	// NoSummary says that the CLI has not told what there is to apply.
	NoSummary bool
	// Resources are the changes of resources, those that delete something first, and Outputs the names of
	// the outputs that change. Drift has the addresses of resources that were changed outside of Terraform.
	// Each has the first 20 in the order of their addresses, without secrets and cut to 256 bytes.
	// MoreResources is the number of the other changes of resources.
	Resources     []ResourceChange
	MoreResources int
	Outputs       []string
	Drift         []string
	// CorrectsDrift says that the plan changes something that was changed outside of Terraform. Many attributes change by themselves,
	// which an apply only records in the state, as it does all changes with -refresh-only.
	CorrectsDrift bool
	Deletions     Deletions
	// Warnings of the run.
	Warnings Warnings
	// Prior is the state that the plan was made from, as PullState returns it. It is nil if the plan is not
	// saved, encrypted, or imports something, for example.
	Prior *State
}

// Plan compares the configuration with the infrastructure. It needs no lock: a change by another
// apply makes the plan stale. A plan that failed leaves no file.
func (c *CLI) Plan(ctx context.Context, ws Workspace, o PlanOptions) (*Plan, error) {
	if err := createPrivate(o.Out); err != nil {
		return nil, fmt.Errorf("cannot create plan file %q: %w", o.Out, err)
	}

	p, err := c.plan(ctx, ws, o)
	if err == nil {
		// The state in the file already has what the plan imports.
		if p.Summary.Import == 0 {
			p.Prior = readPlanFile(o.Out)
		}

		return p, nil
	}

	_ = os.Remove(o.Out) // The CLI writes one even then.

	if cannotSavePlan(err) {
		o.Out = ""

		return c.plan(ctx, ws, o)
	}

	return nil, err
}

// cannotSavePlan reports whether the backend does not save plans: remote, and cloud before Terraform 1.6.
func cannotSavePlan(err error) bool {
	return says(err, "Saving a generated plan is currently not supported")
}

func (c *CLI) plan(ctx context.Context, ws Workspace, o PlanOptions) (*Plan, error) {
	cmd := planCommand(o)

	r, res, err := c.runJSON(ctx, ws, cmd, nil)
	if err != nil {
		return nil, err
	}

	changes := res.code == exitChanges
	switch {
	case changes && r.summary == nil && hasNoPlan(o.Out, res.stderr), // A Go program that panics ends with the same code.
		res.interrupted != nil: // The plan may be incomplete.
		e := newError(cmd.op, ws, res, r.errors)
		e.began = r.began

		return nil, e
	}

	r.addConfigProblems(res.stderr)

	p := &Plan{
		File: o.Out, Changes: changes && !r.onlyChecks(), Summary: r.total(), NoSummary: r.summary == nil,
		Resources: r.planned.kept, MoreResources: r.planned.more, Outputs: r.newOutputs.kept, Drift: r.drift.kept,
		CorrectsDrift: r.corrects, Deletions: ws.deletions(r.deletes), Warnings: r.warned(ws),
	}
	// Terraform names them, and does not count them.
	p.Summary.Forget = max(p.Summary.Forget, r.removed)

	for i, c := range p.Resources {
		p.Resources[i].Address = ws.shown(c.Address)
	}

	for _, names := range [][]string{p.Outputs, p.Drift} {
		for i, name := range names {
			names[i] = ws.shown(name)
		}
	}

	return p, nil
}

// planCommand puts the file and a lock last, so that they take precedence over all other arguments. A
// plan without a lock would not show that a lock was left.
func planCommand(o PlanOptions) command {
	args := []string{"plan", "-json", "-detailed-exitcode", "-input=false"}
	if !o.Lock {
		args = append(args, "-lock=false")
	}
	args = append(args, o.Args...)

	if o.Lock {
		args = append(args, "-lock=true")
	}

	if o.Out != "" {
		args = append(args, "-out="+o.Out)
	}

	return command{op: opPlan, args: args, inWorkspace: true}
}

// hasNoPlan says whether a run without a summary has made no plan. One that was made
// elsewhere has no summary either, and perhaps no file.
func hasNoPlan(out, stderr string) bool {
	if out == "" {
		return strings.Contains(stderr, "goroutine ")
	}

	info, err := os.Lstat(out)

	return err != nil || info.Size() == 0
}

// createPrivate creates an empty file that only its owner can read, in place of what a module may
// have there, such as a link. The CLI writes into it. It would create one that all users can read.
func createPrivate(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The caller names the file.
	if err != nil {
		return err
	}

	return f.Close()
}

// A plan file is a zip with two states in it, both in the format of a state file. The state as
// read has the recorded resources and outputs, but never a lineage and a serial. The refreshed
// state has these, but its outputs are those of the current configuration.
const (
	entryRead      = "tfstate-prev"
	entryRefreshed = "tfstate"
)

// readPlanFile returns the state that the plan was made from. It returns nil if that cannot be
// read for any reason: the format is not a documented interface.
func readPlanFile(path string) *State {
	states := map[string]*State{}

	// One that is too long is no JSON.
	err := readPlanEntries(path, func(name string) bool { return name == entryRead || name == entryRefreshed },
		func(name string, data []byte) { states[name], _ = ParseState(data) })

	read, refreshed := states[entryRead], states[entryRefreshed]
	if err != nil || read == nil || refreshed == nil {
		return nil
	}

	read.Lineage, read.Serial = refreshed.Lineage, refreshed.Serial
	read.Gone = max(read.Managed-refreshed.Managed, 0)

	return read
}

// readPlanEntries calls fn for each entry of a saved plan that is wanted, one after the other: they may be large. A program that
// the module runs during the plan can replace the file.
func readPlanEntries(path string, wants func(name string) bool, fn func(name string, data []byte)) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	info, err := f.Stat()
	if err != nil {
		return err
	}

	r, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}

	for _, entry := range r.File {
		if !wants(entry.Name) {
			continue
		}

		data, err := readEntry(entry)
		if err != nil {
			return err
		}

		fn(entry.Name, data)
	}

	return nil
}
