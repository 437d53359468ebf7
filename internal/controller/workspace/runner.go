// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A workspaceRunner runs the CLI for one Workspace during one pass. A runner.Runner documents the methods. Each part
// of an external knows only those that it needs.
type workspaceRunner interface { //nolint:interfacebloat // It is only taken apart: see newExternal.
	planCLI
	approvalCLI
	applyCLI
	destroyCLI
	moduleCLI
	lockCLI
	guardCLI
	unsavedCLI
	runRecords
	backendCLI
	closer
}

// A stateReader reads the current state.
type stateReader interface {
	State(ctx context.Context) (*terraform.State, error)
}

// A recordReader reads the record of the last run that was about to change the state.
type recordReader interface {
	RunRecord() (*runner.RunRecord, error)
}

// A moduleCLI knows whether a value of the module is missing, also in a destroy only, or the module is an old one, and can leave it out.
type moduleCLI interface {
	Incomplete() error
	FetchError() error
	DestroyLacksVariables() bool
	LeaveOutModule() bool
}
