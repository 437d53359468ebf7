// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "context"

// Unlock removes the lock of the supplied ID from the state of the workspace, regardless of its
// holder. It fails if that lock does not exist (any more).
func (c *CLI) Unlock(ctx context.Context, ws Workspace, id string) error {
	return c.runLogged(ctx, ws, unlockCommand(id))
}

func unlockCommand(id string) command {
	return command{op: "force-unlock", args: []string{"force-unlock", "-force", "-no-color", "--", id}, inWorkspace: true}
}
