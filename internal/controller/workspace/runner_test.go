// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
)

// A fakeRunner answers what a test has put into it.
type fakeRunner struct {
	workspaceRunner

	incomplete    error
	stateAnywhere bool

	// record of the last run, nil if there is none.
	record *runner.RunRecord
}

func (r *fakeRunner) Incomplete() error   { return r.incomplete }
func (r *fakeRunner) StateAnywhere() bool { return r.stateAnywhere }

func (r *fakeRunner) RunRecord() (*runner.RunRecord, error) { return r.record, nil }

func (r *fakeRunner) WriteRunRecord(record runner.RunRecord) error {
	r.record = &record

	return nil
}
