// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	reasonStateSaved      event.Reason = "SavedState"
	reasonStateSuperseded event.Reason = "UnsavedState"
)

// priorFile is where a session keeps its note, which is no longer than maxNote.
const (
	priorFile = ".crossplane-prior.json"
	maxNote   = regular.MiB
)

// A note is what is written down before a run changes a state, for whoever finds one that the
// run could not save.
type note struct {
	// The state that the run starts from. The zero value if it is not known.
	commonv1beta1.StateSummary

	// Taken is when this instance took the Workspace. Nobody else has had it since, as
	// long as this is the last time.
	Taken time.Time `json:"taken,omitzero"`

	// CreationStarted is when the creation of the Workspace began, as far as this instance
	// knew: a creation that began at another time began on another disk.
	CreationStarted *metav1.Time `json:"creationStarted,omitempty"`

	// Dir is where the CLI runs, relative to the directory of the Workspace: it leaves a
	// state there that it cannot save. By the time somebody looks, it may not be the
	// entrypoint any more.
	Dir string `json:"dir,omitempty"`
}

// How often, and for how long, a run that could not save its state tries to do it
// after all before it lets go of the Workspace. Later looks go on with it.
const (
	saveInterval = 2 * time.Second
	saveTimeout  = 2 * time.Minute
)

// saveState saves a state that a run before could not save, because its backend was
// away for example. Nothing else knows of what that run has created.
//
// If somebody else has worked on the Workspace since, with another disk, the state that
// is there now knows of other things, and is not to be overwritten. The one that could
// not be saved is put aside then, and people are told.
func (e *external) saveState(ctx context.Context, ws workspace.Workspace) error {
	path, err := e.session.erroredState()
	if err != nil || path == "" {
		return err
	}

	superseded, err := e.superseded(ctx, ws)
	if err != nil {
		return err
	}

	if !superseded {
		err := e.locking(ctx, ws, func() error { return e.session.pushState(ctx, path) })

		switch {
		case err == nil:
			e.record.Event(ws, event.Normal(reasonStateSaved, "Saved the state that an earlier run could not save"))

			return nil
		case !terraform.IsNewerState(err):
			return errors.Wrap(err, "cannot save the state that an earlier run could not save")
		}
	}

	aside := path + ".superseded-" + time.Now().UTC().Format("20060102T150405")
	if err := os.Rename(path, aside); err != nil {
		return errors.Wrap(err, "cannot put aside a state that was not saved")
	}

	e.record.Event(ws, event.Warning(reasonStateSuperseded, errors.Errorf("the state that an earlier run could not save is out of date, because another instance has worked on the Workspace since: "+
		"what only that run has created is listed in %s on %s and nowhere else. Import it, or remove it by hand", aside, e.orphans.host)))

	return nil
}

// superseded says whether the state may have been changed since the run that could not
// save it.
func (e *external) superseded(ctx context.Context, ws workspace.Workspace) (bool, error) {
	// It was an incarnation of this instance after which nobody else had the Workspace.
	if !e.inherited(ws) {
		return false, nil
	}

	prior, err := e.session.note()
	if err != nil || prior == nil {
		return prior == nil, err
	}

	// It was this process, and it has had the Workspace ever since.
	if prior.Taken.Equal(e.taken(ws)) {
		return false, nil
	}

	current, err := e.session.state(ctx)
	if err != nil {
		return false, err
	}

	same := current.Lineage == prior.Lineage && serial(current) == prior.Serial
	// A backend may make a state by being asked for one.
	same = same || (prior.Lineage == "" && current.Empty())

	return !same, nil
}

// taken is when this instance took the Workspace.
func (e *external) taken(ws workspace.Workspace) time.Time { return e.orphans.predecessors(ws).Until }

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
	n, err := s.note()
	if err != nil {
		return "", err
	}

	dirs := []string{s.in.parameters.Entrypoint}
	if n != nil && n.Dir != "" {
		dirs = append(dirs, n.Dir)
	}

	for _, dir := range dirs {
		path, err := s.dir.Entrypoint(dir)
		if err != nil {
			// There is nothing where there is no directory. Whether the current one can be
			// used is found out by those who do.
			continue
		}

		path = filepath.Join(path, terraform.ErroredStateFile)

		// The CLI would wait for ever for a pipe, and follow a link.
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() {
			return "", errors.Errorf("cannot save the state in %q: it is not a regular file: remove it", path)
		}

		if !errors.Is(err, os.ErrNotExist) {
			return path, errors.Wrap(err, "cannot look for a state that was not saved")
		}
	}

	return "", nil
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

// takeNote notes from which state a run is about to change that of the Workspace.
func (e *external) takeNote(ws workspace.Workspace, s *terraform.State) error {
	return e.session.takeNote(note{
		StateSummary:    *summarizeState(s),
		Taken:           e.taken(ws),
		CreationStarted: ws.GetOwnership().CreationStarted,
	})
}

// takeNote replaces the note of the last run by that of one which is about to begin.
func (s *session) takeNote(n note) error {
	n.Dir = s.in.parameters.Entrypoint

	data, err := json.Marshal(n)
	if err != nil {
		return errors.Wrap(err, "cannot note the state")
	}

	path := filepath.Join(s.dir.Path(), priorFile)
	// A module may have put a link there.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Wrap(err, "cannot note the state")
	}

	return errors.Wrap(os.WriteFile(path, data, 0o600), "cannot note the state")
}

// note returns that of the last run, nil if there is none.
func (s *session) note() (*note, error) {
	data, err := regular.Read(filepath.Join(s.dir.Path(), priorFile), maxNote)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // Nothing is known.
	}

	if err != nil {
		return nil, errors.Wrap(err, "cannot read which state there was")
	}

	n := &note{}
	if err := json.Unmarshal(data, n); err != nil {
		// A process that was killed may have left half of one.
		return nil, nil //nolint:nilerr,nilnil // See above.
	}

	return n, nil
}
