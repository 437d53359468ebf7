// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonStateSaved event.Reason = "SavedState"

// How often, and for how long, a run that could not save its state tries to do it
// after all before it lets go of the Workspace. Later looks go on with it.
const (
	saveInterval = 2 * time.Second
	saveTimeout  = 2 * time.Minute
)

// saveState saves a state that a run before could not save, because its backend was
// away for example. Nothing else knows of what that run has created.
func (e *external) saveState(ctx context.Context, ws workspace.Workspace) error {
	path, err := e.session.erroredState()
	if err != nil || path == "" {
		return err
	}

	if err := e.locking(ctx, ws, func() error { return e.session.pushState(ctx, path) }); err != nil {
		return errors.Wrap(err, "cannot save the state that an earlier run could not save")
	}

	e.record.Event(ws, event.Normal(reasonStateSaved, "Saved the state that an earlier run could not save"))

	return nil
}

// holdOn keeps trying to save a state that the run which has just failed could not
// save. Whoever gets the Workspace next may not have this disk.
func (e *external) holdOn(ctx context.Context, ws workspace.Workspace) {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	defer context.AfterFunc(e.session.stop, cancel)()

	// Whether it worked is seen by the next look, too.
	_ = wait.PollUntilContextCancel(ctx, saveInterval, true, func(ctx context.Context) (bool, error) {
		return e.saveState(ctx, ws) == nil, nil
	})
}

// erroredState returns the path of a state that a run could not save, empty if
// there is none.
func (s *session) erroredState() (string, error) {
	dir, err := s.dir.Entrypoint(s.in.parameters.Entrypoint)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}

	if err != nil {
		return "", errors.Wrap(err, "cannot use spec.forProvider.entrypoint")
	}

	path := filepath.Join(dir, terraform.ErroredStateFile)

	_, err = os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}

	return path, errors.Wrap(err, "cannot look for a state that was not saved")
}

// pushState saves the state at the supplied path, and removes it there.
func (s *session) pushState(ctx context.Context, path string) error {
	err := s.initialized(ctx, func() error {
		return errors.Wrap(s.cli.PushState(ctx, *s.target, path), "cannot save state")
	})
	if err != nil {
		return err
	}

	return errors.Wrap(os.Remove(path), "cannot remove state that was saved")
}
