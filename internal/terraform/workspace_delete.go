// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// DeleteWorkspace deletes the workspace, which must have no resources, and its state. It succeeds if
// the workspace does not or cannot exist, and if it is the default one, which always exists.
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

// deleteWorkspaceCommand does not run in the workspace: the CLI does not delete its current
// workspace.
func deleteWorkspaceCommand(name string) command {
	return command{op: "workspace delete", args: []string{"workspace", "delete", "-no-color", "--", name}}
}

// IsNotEmpty reports whether err is the refusal to delete a workspace because there are
// resources in its state.
func IsNotEmpty(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool { return d.says("Workspace is not empty") })
}

// noWorkspace reports whether the CLI, asked to delete a workspace, says that there is none.
// Terraform prints that without the form of a diagnostic.
func noWorkspace(err error, name string) bool {
	e := &Error{}
	if !errors.As(err, &e) || e.interrupted != nil {
		return false
	}

	said := oneLine(e.Stderr)

	return strings.Contains(said, fmt.Sprintf("Workspace %q doesn't exist", name)) ||
		strings.Contains(said, "workspaces not supported")
}
