// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"slices"
)

const opInit = "init"

// InitOptions are the options of Init.
type InitOptions struct {
	// BackendConfigFile completes the configuration of the backend, if not empty.
	BackendConfigFile string
	// Args are further arguments.
	Args []string
	// State makes Init install the providers of the resources in the state, too. OpenTofu then requires
	// that the workspace exists.
	State bool
	// Reconfigure makes Init ignore the earlier backend of the directory, which does not change.
	Reconfigure bool
}

// Init initializes the directory: backend, modules, providers. The result fits any workspace.
func (c *CLI) Init(ctx context.Context, ws Workspace, o InitOptions) error {
	ws.forget(selection)

	// With -reconfigure, both CLIs keep the backend of the record if there is none any more, and make no plan then.
	if o.Reconfigure || slices.Contains(o.Args, "-reconfigure") {
		ws.forget(backendRecord)
	}

	return c.runLogged(ctx, ws, initCommand(o))
}

// initCommand does not use -json, which Terraform supports from 1.9 only: the diagnostics are
// parsed from the text.
func initCommand(o InitOptions) command {
	args := []string{"init", "-input=false", "-no-color"}
	if o.BackendConfigFile != "" {
		args = append(args, "-backend-config="+o.BackendConfigFile)
	}

	if o.Reconfigure {
		args = append(args, "-reconfigure")
	}

	return command{op: opInit, args: append(args, o.Args...), inWorkspace: o.State}
}
