// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "context"

const opDestroy = "destroy"

// DestroyOptions are the options of Destroy.
type DestroyOptions struct {
	// VarFiles are files with variables; later ones take precedence.
	VarFiles []string
	// Args are further arguments. They take precedence over VarFiles.
	Args []string
	// Progress, if not nil, is called for every event. It must not block.
	Progress func(Progress)
}

// Destroy destroys everything in the state of the workspace, which may be empty.
func (c *CLI) Destroy(ctx context.Context, ws Workspace, o DestroyOptions) (*Summary, error) {
	cmd := destroyCommand(o)

	r, res, err := c.runJSON(ctx, ws, cmd, o.Progress)
	if err != nil {
		return nil, err
	}

	if res.code != 0 {
		e := newError(cmd.op, ws, res, r.diagnostics)
		e.began = r.began

		return nil, e
	}

	if r.summary == nil {
		return &Summary{}, nil
	}

	return r.summary, nil
}

func destroyCommand(o DestroyOptions) command {
	args := []string{"destroy", "-json", "-auto-approve", "-input=false"}
	args = append(args, varFileArgs(o.VarFiles)...)

	return command{op: opDestroy, args: append(args, o.Args...), inWorkspace: true}
}
