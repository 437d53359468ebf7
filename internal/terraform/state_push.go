// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"errors"
	"strings"
)

// ErroredStateFile is the file, in the directory of the root module, in which a CLI leaves a state
// that it could not save. Nothing else records the resources that the run has just created.
const ErroredStateFile = "errored.tfstate"

// PushState replaces the state of the workspace with the state in the file at the supplied path. It
// fails if the workspace has a newer state, or a state of another lineage.
func (c *CLI) PushState(ctx context.Context, ws Workspace, path string) error {
	return c.runLogged(ctx, ws, pushStateCommand(path))
}

func pushStateCommand(path string) command {
	return command{op: "state push", args: []string{"state", "push", "-no-color", "--", path}, inWorkspace: true}
}

// IsNewerState reports whether err is the refusal to replace a state with one that is older, has
// another lineage, or differs at the same serial.
func IsNewerState(err error) bool {
	e := &Error{}
	if !errors.As(err, &e) {
		return false
	}

	said := oneLine(e.Stderr)

	return strings.Contains(said, "cannot import state with") || strings.Contains(said, "cannot overwrite existing state with")
}
