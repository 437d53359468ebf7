// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "context"

const opDestroy = "destroy"

// Destroy destroys everything in the state of the workspace, which may be empty. progress, if not nil,
// is called for every event of a resource. It must not block.
func (c *CLI) Destroy(ctx context.Context, ws Workspace, args []string, progress func(Progress)) (Summary, error) {
	r, _, err := c.runJSON(ctx, ws, destroyCommand(args), progress)

	return r.total(), err
}

func destroyCommand(args []string) command {
	return command{op: opDestroy, args: append([]string{"destroy", "-json", "-auto-approve", "-input=false"}, args...), inWorkspace: true}
}
