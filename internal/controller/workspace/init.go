// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// initRaceWait is much longer than a backend takes to make an empty state.
const initRaceWait = time.Second

// init initializes the directory, whether or not that was done before.
func (s *session) init(ctx context.Context, o terraform.InitOptions) error {
	o.Args = s.in.parameters.InitArgs
	if s.in.backend {
		o.BackendConfigFile = filepath.Join(s.target.Dir, backendFile)
	}

	// A directory that is half initialized counts as not initialized.
	if !s.apart {
		if err := s.dir.ClearInitialized(); err != nil {
			return err
		}
	}

	// To wait for another instance that downloads a provider may take long.
	ctx, cancel := s.stoppable(ctx)
	defer cancel()

	err := plugincache.Init(ctx, s.pluginCacheRun(), func(env []string) error {
		target := *s.target
		target.Env = env

		err := s.cli.Init(ctx, target, o)

		// A first try with a backend that turned out to be wrong must not keep the
		// Workspace from using the right one.
		if s.stateless && terraform.IsBackendChange(err) {
			o.Reconfigure = true
			err = s.cli.Init(ctx, target, o)
		}

		if !terraform.IsInitRace(err) {
			return err
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(initRaceWait):
			return s.cli.Init(ctx, target, o)
		}
	})
	if err != nil {
		return errors.Wrap(err, "cannot initialize")
	}

	if s.apart {
		return nil
	}

	if !o.State {
		s.storeInit()
	}

	return s.dir.MarkInitialized(s.in.parameters.Entrypoint, s.initDigest())
}

// initialized calls run. If that fails because it needs other providers, modules
// or another backend than were initialized, it initializes and calls it again.
func (s *session) initialized(ctx context.Context, run func() error) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}

	err := run()
	if terraform.NeedsInit(err) {
		if err := s.initAgain(ctx, terraform.InitOptions{State: terraform.NeedsStateInit(err)}); err != nil {
			return unpreparedError{err}
		}

		err = run()
	}

	switch {
	case terraform.LacksWorkspaces(err):
		return unpreparedError{errors.Wrapf(err, "the backend has no named workspaces: set annotation %s to %q", meta.AnnotationKeyExternalName, terraform.DefaultWorkspace)}
	case terraform.CannotLoadState(err):
		return unpreparedError{err}
	default:
		return err
	}
}

// initAgain initializes a directory that was initialized for other inputs.
func (s *session) initAgain(ctx context.Context, o terraform.InitOptions) error {
	if err := s.forgetInit(); err != nil {
		return err
	}

	return s.init(ctx, o)
}

// An unpreparedError is the failure to get a directory and a backend to the point at
// which the CLI can look at the infrastructure.
type unpreparedError struct{ error }

func (e unpreparedError) Unwrap() error { return e.error }
