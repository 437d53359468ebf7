// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// runsName is the file of NoteRuns. It is not in the manifest: that is larger, and always waits for
	// the disk.
	runsName = "runs.json"

	maxRuns = 64 << 10
)

// NoteRuns notes the runs that may have left a lock on the state, in place of earlier ones. A durable
// note survives a failure of the machine.
func (d *Dir) NoteRuns(runs any, durable bool) error {
	data, err := json.Marshal(runs)
	if err == nil {
		err = replaceFile(d.records, runsName, data, durable)
	}

	if err != nil {
		return fmt.Errorf("cannot note a run in the working directory: %w", err)
	}

	return nil
}

// ForgetRuns removes the note of NoteRuns, if there is one.
func (d *Dir) ForgetRuns() error {
	if err := d.records.Remove(runsName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the note of a run from the working directory: %w", err)
	}

	return nil
}

// NotedRuns decodes the note of NoteRuns. Without one it does nothing.
func (d *Dir) NotedRuns(runs any) error {
	data, err := regular.ReadIn(d.records, runsName, maxRuns)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err == nil {
		err = json.Unmarshal(data, runs)
	}

	if err != nil {
		return fmt.Errorf("cannot read the note of a run in the working directory: %w", err)
	}

	return nil
}
