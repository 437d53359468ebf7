// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A workspaceRunner runs the CLI for one Workspace during one reconcile. A runner.Runner documents
// the methods. Unit tests replace it.
type workspaceRunner interface { //nolint:interfacebloat // It is all that the controllers know of a runner.Runner.
	Plan(ctx context.Context, lock bool) (*terraform.Plan, error)
	Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.Plan) error, progress func(terraform.Progress)) (*terraform.Applied, error)
	Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (int, error)
	Close() error

	State(ctx context.Context) (*terraform.State, error)
	PushState(ctx context.Context, path string) error
	Unlock(ctx context.Context, id string) error
	DeleteWorkspace(ctx context.Context) error

	// The working directory, which has the record of the last run, and perhaps a state that the run
	// could not save.
	Prepare(ctx context.Context) error
	RunRecord() (*runner.RunRecord, error)
	WriteRunRecord(record runner.RunRecord) error
	UnsavedState() (string, error)
	UseUnsavedState(path string) error
	UseBackend()
	FailedRuns() []statelock.Run
	WriteFailedRuns(runs []statelock.Run, durable bool) error

	Background() []string

	// The module and its inputs.
	Source() string
	Incomplete() error
	AppliesPlan() bool
	LeaveOutModule() bool

	// Where the state is.
	StatePlace() (runner.StatePlace, error)
	KubernetesBackend() runner.KubernetesBackend
}
