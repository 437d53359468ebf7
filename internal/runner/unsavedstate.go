// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
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

	// Dir is where the CLI runs, relative to the directory of the Workspace, and writes a state that it
	// cannot save. The entrypoint may change later. Set by WriteRunRecord.
	Dir string `json:"dir,omitempty"`
}

// WriteRunRecord replaces the RunRecord with that of a run that is about to begin.
func (r *Runner) WriteRunRecord(record RunRecord) error {
	record.Dir = r.Inputs.parameters.Entrypoint

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

		// The CLI would wait for ever for a pipe, and follow a link.
		info, err := os.Lstat(path)
		if err == nil && !info.Mode().IsRegular() {
			return "", errors.Errorf("cannot save the state in %q: it is not a regular file: remove it", path)
		}

		if !errors.Is(err, os.ErrNotExist) {
			return path, errors.Wrap(err, "cannot check for a state that was not saved")
		}
	}

	return "", nil
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

// PushState saves the state at the supplied path, and removes it there.
func (r *Runner) PushState(ctx context.Context, path string) error {
	err := r.withInit(ctx, func() error {
		return errors.Wrap(r.CLI.PushState(ctx, *r.run, path, r.args(toUseState)...), "cannot save state")
	})
	if err != nil {
		return err
	}

	return errors.Wrap(os.Remove(path), "cannot remove state that was saved")
}
