// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ErroredStateFile is the file in which a CLI leaves the state, in the directory of the
// root module, if it could not save it: the resources that it has just created are
// recorded nowhere else. PushState is the remedy.
const ErroredStateFile = "errored.tfstate"

// PushState makes the state in the file at the supplied path that of the workspace.
// It fails if the workspace has a newer one, or one of another lineage.
func (c *CLI) PushState(ctx context.Context, ws Workspace, path string) error {
	return c.runLogged(ctx, ws, pushStateCommand(path))
}

func pushStateCommand(path string) command {
	return command{op: "state push", args: []string{"state", "push", "-no-color", "--", path}, inWorkspace: true}
}

// IsNewerState reports whether err is the refusal to replace a state by one that is
// older, has another lineage, or is a different one of the same age.
func IsNewerState(err error) bool {
	e := &Error{}
	if !errors.As(err, &e) {
		return false
	}

	said := oneLine(e.Stderr)

	return strings.Contains(said, "cannot import state with") || strings.Contains(said, "cannot overwrite existing state with")
}
