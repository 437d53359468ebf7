// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package record has the records that the programs of the chaos test write about runs of
// the CLI, and the locks by which they see concurrent runs.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Kinds of event.
const (
	Start     = "start"
	Interrupt = "interrupt"
	End       = "end"
)

// An Event is the start of a run, an interrupt that a sluggish one got, or the end.
// Only the first four fields of an interrupt and of an end are set.
type Event struct {
	Kind string `json:"kind"`

	// Time in nanoseconds since 1970. That of a start is before the CLI did anything,
	// that of an end after the CLI had ended.
	Time int64 `json:"time"`

	// UID of the Workspace.
	UID string `json:"uid"`

	// PID of the CLI.
	PID int `json:"pid"`

	// Parent is the process of the provider that started the run.
	Parent int `json:"parent,omitempty"`

	// Instance is the name of that process in the test.
	Instance string `json:"instance,omitempty"`

	// Command is the subcommand: plan, apply, state pull ...
	Command string `json:"command,omitempty"`

	// Root is the directory that the workdir is in.
	Root string `json:"root,omitempty"`

	// State identifies the state that the run works with: see State.
	State string `json:"state,omitempty"`

	// Fresh says that the workdir was not there at any earlier run, or has been
	// deleted since.
	Fresh bool `json:"fresh,omitempty"`

	// Beside are the PIDs of other runs for this Workspace that had not ended.
	Beside []int `json:"beside,omitempty"`
}

// Append adds an event to the file of the supplied name. Processes may do so at the
// same time: each event is one write, which the system appends as a whole. It is
// there, even if this process is killed right after Append.
func Append(name string, e Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("cannot marshal event: %w", err)
	}

	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // The test has chosen the file.
	if err != nil {
		return fmt.Errorf("cannot open record: %w", err)
	}

	_, err = f.Write(append(line, '\n'))

	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot write record: %w", err)
	}

	return nil
}

// Read returns all complete events in the file of the supplied name. They are in the order in
// which they were appended, which for the runs of one Workspace is that of their
// times. A file that is not there has no events.
func Read(name string) ([]Event, error) {
	data, err := os.ReadFile(name) //nolint:gosec // The test has chosen the file.
	if os.IsNotExist(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("cannot read record: %w", err)
	}

	var events []Event

	for line := range bytes.Lines(data) {
		// A reader may see the beginning of a write.
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}

		e := Event{}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("cannot read record %q: %w", line, err)
		}

		events = append(events, e)
	}

	return events, nil
}
