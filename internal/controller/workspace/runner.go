// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A workspaceRunner runs the CLI for one Workspace during one reconcile. A runner.Runner documents
// the methods. Unit tests replace it.
type workspaceRunner interface {
	planRunner
	stateStore
	directory
	moduleInfo
	stateBackend
}

// A planRunner makes and applies plans.
type planRunner interface {
	Plan(ctx context.Context, lock bool) (*terraform.Plan, error)
	Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.State) error, progress func(terraform.Progress)) (*terraform.Applied, error)
	Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (int, error)
	Close() error
}

// A stateStore reads and changes the state.
type stateStore interface {
	State(ctx context.Context) (*terraform.State, error)
	PushState(ctx context.Context, path string) error
	Unlock(ctx context.Context, id string) error
	DeleteWorkspace(ctx context.Context) error
}

// A directory is the working directory. It has the record of the last run, perhaps with a state that
// the run could not save.
type directory interface {
	Prepare(ctx context.Context) error
	RunRecord() (*runner.RunRecord, error)
	WriteRunRecord(record runner.RunRecord) error
	UnsavedState() (string, error)
}

// A moduleInfo says what the module and its inputs are.
type moduleInfo interface {
	Source() string
	Incomplete() error
	AppliesPlan() bool
	LeaveOutModule() bool
}

// A stateBackend says where the state is.
type stateBackend interface {
	StatePlace() (runner.StatePlace, error)
	KubernetesBackend() runner.KubernetesBackend
}

var _ workspaceRunner = &runner.Runner{}
