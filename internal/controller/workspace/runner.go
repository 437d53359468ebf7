// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A Runner runs the CLI for one Workspace. runner.Runner implements all of these interfaces and
// documents the methods.
type Runner interface {
	Prepare(ctx context.Context) error
	Plan(ctx context.Context, lock bool) (*terraform.Plan, *terraform.State, error)
	Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.State) error, progress func(terraform.Progress)) (*terraform.Applied, error)
	Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (int, error)
	Close() error
}

// A StateStore keeps the state of one Workspace.
type StateStore interface {
	State(ctx context.Context) (*terraform.State, error)
	PushState(ctx context.Context, path string) error
	Unlock(ctx context.Context, id string) error
	DeleteWorkspace(ctx context.Context) error
}

// A Backend says where the state of one Workspace is kept, as far as that is known.
type Backend interface {
	StatePlace() (runner.StatePlace, error)
	KubernetesBackend() runner.KubernetesBackend
}

// A Record gives access to the records of runs in the working directory of one Workspace.
type Record interface {
	RunRecord() (*runner.RunRecord, error)
	WriteRunRecord(record runner.RunRecord) error
	UnsavedState() (string, error)
}

// A Module is the module of one Workspace.
type Module interface {
	Source() string
	Incomplete() error
	AppliesPlan() bool
	LeaveOutModule() bool
}

// A workspaceRunner is everything that an external needs of runner.Runner.
type workspaceRunner interface {
	Runner
	StateStore
	Backend
	Record
	Module
}

var _ workspaceRunner = &runner.Runner{}
