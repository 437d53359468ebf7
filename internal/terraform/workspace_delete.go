// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// DeleteWorkspace deletes the workspace and its state. One that tracks resources
// is not deleted; that is an error. A workspace that is not there, cannot be there
// (the backend has no named workspaces), or is the default one, which always is,
// is success.
func (c *CLI) DeleteWorkspace(ctx context.Context, ws Workspace) error {
	if ws.name() == DefaultWorkspace {
		return nil
	}

	ws.forgetSelection()

	err := c.runLogged(ctx, ws, deleteWorkspaceCommand(ws.name()))
	if noWorkspace(err, ws.name()) {
		return nil
	}

	return err
}

// deleteWorkspaceCommand runs without the workspace: the one that a run is in is
// not deleted.
func deleteWorkspaceCommand(name string) command {
	return command{op: "workspace delete", args: []string{"workspace", "delete", "-no-color", "--", name}}
}

// IsNotEmpty reports whether err is the refusal to delete a workspace because there are
// resources in its state.
func IsNotEmpty(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool { return d.says("Workspace is not empty") })
}

// noWorkspace reports whether the CLI, asked to delete a workspace, says that there
// is none. Terraform does so without the form of a diagnostic.
func noWorkspace(err error, name string) bool {
	e := &Error{}
	if !errors.As(err, &e) || e.interrupted != nil {
		return false
	}

	said := oneLine(e.Stderr)

	return strings.Contains(said, fmt.Sprintf("Workspace %q doesn't exist", name)) ||
		strings.Contains(said, "workspaces not supported")
}
