// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package runner runs the CLI for one Workspace during one reconcile: it fetches the module, writes
// the inputs into the working directory, initializes it if necessary, runs the commands, and removes
// the secrets. It does not write to Kubernetes, or know what the results mean for the Workspace.
package runner

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Options are the options that the Runners of all Workspaces share.
type Options struct {
	CLI       *terraform.CLI
	Fetcher   *module.Fetcher
	InitCache *initcache.Cache

	// ObservePackage, if not nil, is called for each provider package that init has installed, with
	// whether the plugin cache had it.
	ObservePackage func(hit bool)

	// Held are states that could not be written.
	Held *HeldStates

	// Environ is the environment that every run starts from, as KEY=VALUE.
	Environ []string

	// Stop is the lifetime of all runs. Its end also ends what may take long between runs: fetches, waits
	// for another init or for the download of a provider, and attempts to save a state.
	Stop context.Context //nolint:containedctx // See above.
}

// Target is the Workspace that a Runner is for.
type Target struct {
	Dir    *workdir.Dir // The Runner closes it.
	Inputs *Inputs

	Name      string // Of the Terraform workspace.
	Namespace string // Of the Workspace. Its module may refer to it.

	// Deleted says that the Workspace is being deleted: if the module cannot be fetched, the
	// version on disk is used.
	Deleted bool

	// Stateless says that no state of the Workspace can exist yet.
	Stateless bool

	// Log, if not nil, is called with each line that the CLI prints. Parts of secrets may be left in it:
	// see redact.Secrets.Line.
	Log func(line string)

	// Use is called before the first use of the Terraform workspace, and done after the last one.
	Use func() (done func())
}

// A Runner writes the inputs when they are first needed, and must be closed so that no secret stays
// on disk. It must not be used concurrently.
type Runner struct {
	Options
	Target

	mark       process.Mark
	stateOnly  bool // The module is left out.
	inStateDir bool // The commands run in stateOnlyDir, which has the files of the ProviderConfig.

	// usual are the inputs without the changes of UseUnsavedState, which is not in effect if they are nil.
	usual *Inputs

	// Set by write.
	source   string               // The address that the module was fetched from.
	fetchErr error                // Why the module is that of an earlier fetch.
	done     func()               // Ends the use of the directory and of the state.
	run      *terraform.Workspace // What the commands run in.
	varFiles []string             // The names of the files of variables there.

	restoredKey string // The key in the InitCache, if the result of init was copied from there.
	notSaved    bool   // The last plan was not saved.
}

// New returns a Runner. It does not read or write anything yet.
func New(o Options, t Target) *Runner {
	return &Runner{Options: o, Target: t, mark: process.NewMark()}
}

// Background returns the names of the programs that a run in progress has started in the background. It
// may be called concurrently.
func (r *Runner) Background() []string { return r.mark.Orphans() }

// Source returns the address that the module was fetched from, if it was.
func (r *Runner) Source() string { return r.source }

// FetchError returns why the module could not be fetched, if that of an earlier fetch is used instead.
func (r *Runner) FetchError() error { return r.fetchErr }

// Incomplete returns an error that names the variables without a value, or nil if all have one. A
// run without the module does not need them.
func (r *Runner) Incomplete() error { return r.Inputs.incomplete }

// Prepare writes the inputs, and initializes the directory unless that was done with the same inputs
// before. All runs but an apply, which follows a plan, begin with it. Only the first one does anything.
func (r *Runner) Prepare(ctx context.Context) error {
	// Without the module no variables are needed, but the preparation begins with the module.
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.Stop, cancel)()

	if err := r.checkName(); err != nil {
		return err
	}

	if err := r.Inputs.checkArgs(r.env(r.Dir.Path()), r.Deleted); err != nil {
		return err
	}

	if err := r.write(ctx); err != nil {
		return err
	}

	// Init may need the variables that lack a value, and so may all other commands with the module.
	if r.Inputs.incomplete != nil && !r.stateOnly {
		r.run = nil

		return nil
	}

	if err := r.ensureInit(ctx); err != nil {
		return err
	}

	return r.checkBackend()
}

// ensureInit initializes the directory unless that was done with the same inputs before, here or elsewhere.
func (r *Runner) ensureInit(ctx context.Context) error {
	// Only the result of init for the module is recorded.
	if r.inStateDir || r.usual != nil {
		return r.init(ctx, terraform.InitOptions{}, "")
	}

	if r.Dir.Initialized(r.Inputs.parameters.Entrypoint) == r.initDigest() {
		return nil
	}

	key, err := r.newInitKey()
	if err != nil {
		return err
	}

	if restored, err := r.restoreInit(key); restored || err != nil {
		return err
	}

	return r.init(ctx, terraform.InitOptions{}, key)
}

// LeaveOutModule makes the Runner leave out the module, so that the state can be reached although
// the module is broken. It returns false, and does nothing, if that would reach another state.
func (r *Runner) LeaveOutModule() bool {
	switch {
	case r.Inputs.stateWithoutModule():
	case r.Inputs.stateAnywhere():
		r.Inputs.parameters.Entrypoint = stateOnlyDir
		r.inStateDir = true
	default:
		return false
	}

	r.Inputs.module = map[string]workdir.File{}
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

// RemoveSecrets removes the plan, all secret inputs, and what an interrupted init has left, from a working
// directory, and the temporary files of its runs. If one cannot be removed, the others are.
func RemoveSecrets(dir *workdir.Dir) error {
	remove := func(name, what string) error {
		return errors.Wrap(os.RemoveAll(filepath.Join(dir.Path(), name)), "cannot remove "+what)
	}

	return errors.Join(
		errors.Wrap(os.RemoveAll(filepath.Join(dir.Records(), planFile)), "cannot remove plan"),
		remove(privatePlugins, "the private plugin cache of an earlier init"),
		remove(stateOnlyDir, "directory without module"), // Init stores the configuration of a backend in it.
		remove(unsavedDir, "copies of a state"),
		errors.Wrap(dir.RemoveSecrets(), "cannot remove secrets"),
		removeTempDir(dir),
	)
}

// An UnpreparedError is the failure to prepare a directory or a backend for a plan.
type UnpreparedError struct{ Cause error }

// Error returns the text of the cause.
func (e UnpreparedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e UnpreparedError) Unwrap() error { return e.Cause }
