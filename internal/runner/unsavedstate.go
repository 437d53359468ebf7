// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// A RunRecord is written before a run changes a state. If the run cannot save the state, the
// record tells the next instance which state the run began with.
type RunRecord struct {
	// The state that the run starts from, if it is known.
	commonv1beta1.StateSummary

	// Taken is when this instance last took the Workspace. While that is unchanged, no other instance has
	// worked on it.
	Taken time.Time `json:"taken,omitzero"`

	Host string `json:"host,omitempty"` // Of the instance.

	// CreationStarted is the start of the creation of the Workspace, as this instance knew it. A creation
	// with another start began on another disk.
	CreationStarted *metav1.Time `json:"creationStarted,omitempty"`

	// Replaced is the start of an earlier creation on this disk, which the status still has if the
	// instance could not record the new one.
	Replaced *metav1.Time `json:"replaced,omitempty"`

	// Used is the unsaved state of the run, if the status may have it: it was written there, or later runs have used it in place
	// of the one in the backend.
	Used *commonv1beta1.StateSummary `json:"used,omitempty"`

	// Dir is where the CLI runs, relative to the directory of the Workspace, and writes a state that it
	// cannot save. The entrypoint may change later. WriteRunRecord sets it if it is empty.
	Dir string `json:"dir,omitempty"`
}

// WriteRunRecord replaces the RunRecord with that of a run that is about to begin.
func (r *Runner) WriteRunRecord(record RunRecord) error {
	record.Dir = cmp.Or(record.Dir, r.Inputs.parameters.Entrypoint)

	return errors.Wrap(r.Dir.WriteRun(record), "cannot note the state")
}

// RunRecord returns the record of the last run, or nil if there is none.
func (r *Runner) RunRecord() (*RunRecord, error) {
	record := &RunRecord{}

	found, err := r.Dir.ReadRun(record)
	if !found || err != nil {
		return nil, errors.Wrap(err, "cannot read which state there was")
	}

	return record, nil
}

// UnsavedState returns the path of a state that a run could not save, or nothing.
func (r *Runner) UnsavedState() (string, error) {
	record, err := r.RunRecord()
	if err != nil {
		return "", err
	}

	dirs := []string{r.Inputs.parameters.Entrypoint}
	if record != nil && record.Dir != "" {
		dirs = append(dirs, record.Dir)
	}

	for _, dir := range dirs {
		dir, err := r.Dir.ResolveEntrypoint(dir)
		if isNoDirectory(err) {
			// Without the directory there is no state. The runs find out whether the current
			// directory can be used.
			continue
		}

		if err != nil {
			return "", errors.Wrap(err, "cannot check for a state that was not saved")
		}

		path := filepath.Join(r.Dir.Path(), dir, terraform.ErroredStateFile)
		if err := r.Held.write(path); err != nil {
			return "", err
		}

		// The CLI would wait for ever for a pipe, and follow a link.
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() {
			return "", errors.Errorf("cannot save the state in %q: it is not a regular file: remove it", path)
		}

		if err == nil && info.Size() == 0 {
			return "", errors.Errorf("the state that a run could not save is lost: %q is empty, because there was no room for it, and the instance that had it in memory has ended. "+
				"Import what that run has created, or remove it by hand. Then remove that file", path)
		}

		if !errors.Is(err, os.ErrNotExist) {
			return path, errors.Wrap(err, "cannot check for a state that was not saved")
		}
	}

	return "", nil
}

func (r *Runner) hasUnsavedState() bool {
	path, err := r.UnsavedState()

	return err == nil && path != ""
}

// isNoDirectory says whether an error of ResolveEntrypoint means that there is no such directory. Other
// errors of the file system may be temporary, and there may be a state.
func isNoDirectory(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err != nil // It is a file, or outside of the directory of the Workspace.
	}

	return slices.Contains([]syscall.Errno{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EINVAL}, errno)
}

// UseUnsavedState makes the runs use the state at the supplied path in place of the one in the backend, and
// write to it. It is a part of the directory, which an earlier run has initialized with the backend.
//
// The CLI finds the state in a backend "local" with a data directory of its own, so that no init can copy
// one state over the other. The providers and modules there are those of the directory.
func (r *Runner) UseUnsavedState(path string) error {
	dir := filepath.Join(r.Dir.Path(), unsavedDir)
	states, data := filepath.Join(dir, "states"), filepath.Join(dir, terraform.DataDir)
	state := filepath.Join(states, r.Name, "terraform.tfstate")

	err := errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Dir(state), 0o700), os.Mkdir(data, 0o700), os.Symlink(path, state))

	for _, name := range []string{"providers", "modules"} {
		shared := filepath.Join(r.run.Dir, terraform.DataDir, name)
		if _, missing := os.Stat(shared); missing == nil {
			err = errors.Join(err, os.Symlink(shared, filepath.Join(data, name)))
		}
	}

	if err != nil {
		return errors.Wrap(err, "cannot use the state that was not saved")
	}

	in := *r.Inputs
	in.config = maps.Clone(in.config)
	in.config[overrideFile] = workdir.File{Secret: true, Data: fmt.Appendf(nil, "terraform {\n  backend \"local\" {\n    path = %q\n    workspace_dir = %q\n  }\n}\n", state, states)}
	in.parameters.InitArgs = withoutBackendConfig(in.parameters.InitArgs)
	in.backend = false

	r.usual, r.Inputs, r.run = r.Inputs, &in, nil

	return nil
}

// UseBackend ends what UseUnsavedState has begun.
func (r *Runner) UseBackend() {
	if r.usual != nil {
		r.usual, r.Inputs, r.run = nil, r.usual, nil
	}
}

// withoutBackendConfig returns the arguments of init that are not for the backend of the module.
func withoutBackendConfig(args []string) []string {
	var rest []string

	for i := 0; i < len(args); i++ {
		name, _, hasValue := environ.Option(args[i])

		switch {
		case name != "backend-config":
			rest = append(rest, args[i])
		case !hasValue:
			i++
		}
	}

	return rest
}

// initUnsaved initializes the directory for UseUnsavedState. It returns an error if the module overrides the
// backend, too: its state is not the one to use.
func (r *Runner) initUnsaved(ctx context.Context, o terraform.InitOptions) error {
	if err := r.CLI.Init(ctx, *r.run, o); err != nil {
		return errors.Wrap(err, "cannot initialize")
	}

	dir := filepath.Join(r.Dir.Path(), unsavedDir)

	b, err := readBackend(dir)
	if err == nil && (b.Type != "local" || b.Config["workspace_dir"] != filepath.Join(dir, "states")) {
		err = errors.New("a file of the module overrides the backend")
	}

	return errors.Wrap(err, "cannot use the state that was not saved")
}
