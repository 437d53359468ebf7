// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// A session runs the CLI for one Workspace during one reconcile. It writes the
// inputs when they are first needed, and must be closed so that no secret stays
// on disk. It must not be used concurrently.
type session struct {
	cli     *terraform.CLI
	dir     *workdir.Dir
	in      *inputs
	name    string
	environ []string
	log     func(line string)

	// fetcher of modules that are not inline, and the namespace that it may use
	// references from.
	fetcher   *module.Fetcher
	namespace string

	// stop ends a fetch, whatever its context says.
	stop context.Context //nolint:containedctx // It is the lifetime of all runs, not of a call.

	// source is the address that the module was fetched from. Set by prepare.
	source string

	// deleted says that the Workspace is being deleted: the module that is on disk
	// is good enough then, if the current one cannot be had.
	deleted bool

	// stateless says that there cannot be a state of the Workspace anywhere yet.
	stateless bool

	// detached says that the module is to be left out, and apart that the runs are in
	// a directory beside it.
	detached, apart bool

	// states that this instance works with.
	states *States

	// done with the directory and the state. Set by write, which begins to use them.
	done func()

	// target of the runs. Set by prepare.
	target *terraform.Workspace

	// initCache has what init left in other directories, and initKey is where in it
	// the result for this one would be. The key is empty if init ran here before, or
	// has to.
	initCache *initcache.Cache
	initKey   string

	// restored says that what is initialized is what init left in another directory.
	restored bool

	// varFiles to pass to plan, apply and destroy, as absolute paths. Set by prepare.
	varFiles []string
}

// digest of everything that the result of a plan depends on, secrets included: it must not
// be published. The token asks for a new one when it changes.
func (s *session) digest(token string) string {
	return s.in.digest(string(s.cli.Product()), s.cli.Version(), s.name, token)
}

// initDigest of everything that the result of init depends on.
func (s *session) initDigest() string {
	return s.in.initDigest(string(s.cli.Product()), s.cli.Version())
}

// prepare the directory for a run: write the inputs, and initialize it unless
// that was done with the same inputs before.
func (s *session) prepare(ctx context.Context) error {
	// What comes before the first run needs the module, too, but no variables.
	if s.target == nil && (s.in.incomplete == nil || s.detached) {
		if err := s.prepareDir(ctx); err != nil {
			return unpreparedError{err}
		}
	}

	if s.detached {
		return nil
	}

	return s.in.incomplete
}

func (s *session) prepareDir(ctx context.Context) error {
	if err := s.write(ctx); err != nil {
		return err
	}

	// What is to last is what init leaves for the module.
	if s.apart {
		return s.init(ctx, terraform.InitOptions{})
	}

	if s.dir.Initialized(s.in.parameters.Entrypoint) == s.initDigest() {
		return nil
	}

	if restored, err := s.restoreInit(); restored || err != nil {
		return err
	}

	return s.init(ctx, terraform.InitOptions{})
}

// withoutModule makes the session forget the module, so that the state can be
// reached although the module is broken. It returns false, and does nothing, if
// that would lead to another state. A module that was fetched stays on disk.
func (s *session) withoutModule() bool {
	switch {
	case s.in.stateWithoutModule():
	case s.in.stateAnywhere():
		s.in.enter(apartDir)
		s.apart = true
	default:
		return false
	}

	s.initKey = ""
	s.in.module = newFileSet("")
	s.in.varFiles = nil
	s.in.parameters.Vars = nil
	s.detached = true
	s.target = nil

	return true
}

// close removes the plan and every secret from the directory.
func (s *session) close() error {
	if s.done == nil {
		return nil
	}
	defer s.done()

	return removeSecrets(s.dir)
}
