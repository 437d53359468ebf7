// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A workspaceRunner runs the CLI for one Workspace: a runner.Runner, which documents the methods.
type workspaceRunner interface { //nolint:interfacebloat // Only tests replace the runner.Runner, as a whole.
	Prepare(ctx context.Context) error
	Plan(ctx context.Context, lock bool) (*terraform.Plan, error)
	Apply(ctx context.Context, p *terraform.Plan, again func(*terraform.State) error, progress func(terraform.Progress)) (*terraform.Applied, error)
	Destroy(ctx context.Context, again func() error, progress func(terraform.Progress)) (int, error)
	Close() error

	// The state.
	State(ctx context.Context) (*terraform.State, error)
	PushState(ctx context.Context, path string) error
	UnsavedState() (string, error)
	Unlock(ctx context.Context, id string) error
	DeleteWorkspace(ctx context.Context) error
	StatePlace() (runner.StatePlace, error)
	KubernetesBackend() runner.KubernetesBackend

	// The record of the last run in the working directory.
	RunRecord() (*runner.RunRecord, error)
	WriteRunRecord(record runner.RunRecord) error

	// The module.
	Source() string
	Incomplete() error
	AppliesPlan() bool
	LeaveOutModule() bool
}

var _ workspaceRunner = &runner.Runner{}
