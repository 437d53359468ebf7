// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
)

const (
	// runsRecord is the record of the failed runs. It is small, and does not always wait for the disk.
	runsRecord = "runs.json"

	maxRunsRecord = 64 << 10
)

// FailedRuns returns the runs that WriteFailedRuns has recorded, of earlier processes too. A module can
// write to the record. If it cannot be read, there are none.
func (r *Runner) FailedRuns() []statelock.Run {
	var runs []statelock.Run
	if _, err := r.Dir.ReadRecord(runsRecord, &runs, maxRunsRecord); err != nil {
		return nil
	}

	return runs
}

// WriteFailedRuns records, in place of others, the runs that may have left a lock on the state. If this
// process dies, the next one knows from them which lock it has left. A durable record survives a failure
// of the machine.
func (r *Runner) WriteFailedRuns(ctx context.Context, runs []statelock.Run, durable bool) error {
	if err := r.begin(ctx); err != nil {
		return err
	}

	if len(runs) == 0 {
		return r.Dir.RemoveRecord(runsRecord)
	}

	return r.Dir.WriteRecord(runsRecord, runs, maxRunsRecord, durable)
}
