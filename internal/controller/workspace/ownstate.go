// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// ownState makes sure that the state that was found belongs to the Workspace, before anything is
// done to the state.
func (e *external) ownState(ctx context.Context, ws workspace.Workspace, found *terraform.State, changes bool) error {
	s := summarizeState(found)

	place, err := e.runner.StatePlace()
	if err != nil {
		return err
	}

	switch {
	case s.Lineage == ws.GetOwnership().Lineage:
		return nil
	// Two Workspaces may apply to the same empty state. The lock on the state, or the plan, which
	// the faster apply makes stale, stops the slower one.
	case s.Lineage == "" || isBlank(found):
		return nil
	case place.InWorkdir:
		workspace.Own(ws, s.Lineage)

		// Without changes the owner is recorded with the rest of the status.
		if !changes {
			return nil
		}

		return e.conflicts.write(ctx, ws, "whose the state is")
	case !changes && (found.Empty() || workspace.OwnershipOfFound(ws, s.Lineage) >= workspace.OwnershipRemembered):
		return nil
	default:
		return e.conflicts.takeOver(ctx, ws, s, func() error {
			// It has created what is in the state.
			if ws.GetOwnership().CreationSucceeded != nil {
				return nil
			}

			latest, err := e.runner.State(ctx)
			if err != nil {
				return err
			}

			if latest.Lineage != found.Lineage || latest.Serial != found.Serial {
				return errors.Errorf("the state of Terraform workspace %q has changed since it was planned", workspace.TerraformWorkspace(ws))
			}

			return nil
		})
	}
}

// mayApplyTo returns an error if the state that an apply is about to change is not known to
// belong to the Workspace.
func mayApplyTo(ws workspace.Workspace, found *terraform.State) error {
	if found.Lineage == "" || isBlank(found) || ws.GetOwnership().Lineage == found.Lineage {
		return nil
	}

	return errors.New("cannot apply: there is another state than before")
}
