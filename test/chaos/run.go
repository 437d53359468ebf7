// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"slices"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

// A run is one run of the CLI.
type run struct {
	// workspace is the name of the Workspace.
	workspace string

	// uid of the Workspace.
	uid string

	pid      int
	instance string
	command  string
	root     string

	// state that it worked with: see record.State. It is not known of an init.
	state string

	// start in nanoseconds since 1970.
	start int64

	// interrupted is when a sluggish CLI was interrupted, 0 if it was not.
	interrupted int64

	// end is the time when the run was first seen to have ended, 0 if it never was. It is
	// for messages only: overlaps are determined by the marks.
	end int64

	// fresh says that there was no run in this workdir before.
	fresh bool

	// beside are the pids of runs for this Workspace that had not ended at the start of
	// this one.
	beside []int
}

// readRuns combines starts and ends into runs. names are the names of the Workspaces, by
// UID.
func readRuns(events []record.Event, names map[string]string) []run {
	var runs []run

	for _, e := range events {
		if e.Kind == record.Start {
			runs = append(runs, run{
				workspace: names[e.UID],
				uid:       e.UID,
				pid:       e.PID,
				instance:  e.Instance,
				command:   e.Command,
				root:      e.Root,
				state:     e.State,
				start:     e.Time,
				fresh:     e.Fresh,
				beside:    e.Beside,
			})

			continue
		}

		i := lastRun(runs, e.UID, e.PID, e.Time)

		switch {
		case i < 0:
		case e.Kind == record.Interrupt:
			runs[i].interrupted = e.Time
		default:
			runs[i].end = e.Time
		}
	}

	return runs
}

// lastRun returns the index of the last run for the Workspace, in that process, that had
// started at the supplied time. It is -1 if there is none. Process ids are reused.
func lastRun(runs []run, uid string, pid int, now int64) int {
	for i, r := range slices.Backward(runs) {
		if r.uid == uid && r.pid == pid && r.start <= now {
			return i
		}
	}

	return -1
}
