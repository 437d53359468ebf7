// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package runner runs the CLI for one Workspace during one reconcile: it fetches the
// module, writes the inputs into the working directory, initializes the directory if that
// is necessary, runs the commands, and removes the secrets. It does not write to
// Kubernetes, and it does not know what the results mean for the Workspace.
package runner

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Options are what the Runners of all Workspaces have in common.
type Options struct {
	// CLI is terraform or tofu.
	CLI *terraform.CLI

	// Fetcher gets modules that are not inline.
	Fetcher *module.Fetcher

	// InitCache has what init left in other directories.
	InitCache *initcache.Cache

	// Environ is the environment that every run starts from, as KEY=VALUE.
	Environ []string

	// Stop is the lifetime of all runs. When it ends, fetches end, too, whatever the
	// context of a call says.
	Stop context.Context //nolint:containedctx // See above.
}

// Target is the Workspace that a Runner is for.
type Target struct {
	// Dir is its working directory. The Runner closes it.
	Dir *workdir.Dir

	// Inputs of its runs.
	Inputs *Inputs

	// Name of the Terraform workspace.
	Name string

	// Namespace of the Workspace, from which its module may use references.
	Namespace string

	// Deleted says that the Workspace is being deleted: the module that is on disk is
	// good enough then if the current one cannot be fetched.
	Deleted bool

	// Stateless says that there cannot be a state of the Workspace anywhere yet.
	Stateless bool

	// Log is called with each line that the CLI prints, secrets included. It may be nil.
	Log func(line string)

	// Use is called before the Terraform workspace is first used, and what it returns
	// when that is over.
	Use func() (done func())
}

// A Runner runs the CLI for one Workspace during one reconcile. It writes the inputs when
// they are first needed, and must be closed so that no secret stays on disk. It must not
// be used concurrently.
type Runner struct {
	Options
	Target

	// source is the address that the module was fetched from. Set by write.
	source string

	// stateOnly says that the module is left out, to reach the state although the module
	// is broken, and beside that the runs are in a directory beside it.
	stateOnly, beside bool

	// done with the directory and the state. Set by write, which begins to use them.
	done func()

	// run is what the commands run in. Set by write.
	run *terraform.Workspace

	// initKey is where in the InitCache the result for this directory would be. It is
	// empty if init ran here before, or has to.
	initKey string

	// restored says that what is initialized is what init left in another directory.
	restored bool

	// varFiles to pass to plan, apply and destroy, as absolute paths. Set by write.
	varFiles []string
}

// New returns a Runner. Nothing is read or written before its first run.
func New(o Options, t Target) *Runner { return &Runner{Options: o, Target: t} }

// Source returns the address that the module was fetched from. It is empty if the module is
// inline or nothing has run yet.
func (r *Runner) Source() string { return r.source }

// Incomplete returns why there are variables without a value that they should have, nil if
// there are none. A run without the module does not need them.
func (r *Runner) Incomplete() error { return r.Inputs.incomplete }

// prepare the directory for a run: write the inputs, and initialize it unless
// that was done with the same inputs before.
func (r *Runner) prepare(ctx context.Context) error {
	// What comes before the first run needs the module, too, but no variables.
	if r.run == nil && (r.Inputs.incomplete == nil || r.stateOnly) {
		if err := r.prepareDir(ctx); err != nil {
			return UnpreparedError{err}
		}
	}

	if r.stateOnly {
		return nil
	}

	return r.Inputs.incomplete
}

func (r *Runner) prepareDir(ctx context.Context) error {
	if err := r.write(ctx); err != nil {
		return err
	}

	// What is to last is what init leaves for the module.
	if r.beside {
		return r.init(ctx, terraform.InitOptions{})
	}

	if r.Dir.Initialized(r.Inputs.parameters.Entrypoint) == r.initDigest() {
		return nil
	}

	if restored, err := r.restoreInit(); restored || err != nil {
		return err
	}

	return r.init(ctx, terraform.InitOptions{})
}

// LeaveOutModule makes the Runner leave out the module, so that the state can be reached
// although the module is broken. It returns false, and does nothing, if that would lead to
// another state. A module that was fetched stays on disk.
func (r *Runner) LeaveOutModule() bool {
	switch {
	case r.Inputs.stateWithoutModule():
	case r.Inputs.stateAnywhere():
		r.Inputs.setEntrypoint(stateOnlyDir)
		r.beside = true
	default:
		return false
	}

	r.initKey = ""
	r.Inputs.module = newFileSet("")
	r.Inputs.varFiles = nil
	r.Inputs.parameters.Vars = nil
	r.stateOnly = true
	r.run = nil

	return true
}

// Close removes the plan and every secret from the directory.
func (r *Runner) Close() error {
	defer r.Dir.Close() //nolint:errcheck // Nothing is written through it.

	if r.done == nil {
		return nil
	}
	defer r.done()

	return RemoveSecrets(r.Dir)
}

// An UnpreparedError is the failure to get a directory and a backend to the point at
// which the CLI can look at the infrastructure.
type UnpreparedError struct{ error }

// NewUnpreparedError returns that failure because of the supplied error.
func NewUnpreparedError(err error) UnpreparedError { return UnpreparedError{error: err} }

// Unwrap returns why.
func (e UnpreparedError) Unwrap() error { return e.error }

// IsUnprepared says whether an error is an UnpreparedError.
func IsUnprepared(err error) bool { return errors.As(err, &UnpreparedError{}) }
