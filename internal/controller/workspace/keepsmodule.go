// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// keepsModule returns an error if the plan would destroy resources of a file that the CLI does not read, or because there is nothing
// left of the module: a template may have been rendered to nothing. prevent_destroy was in the module, too.
func (pl *planner) keepsModule(ws workspace.Workspace, p *terraform.Plan) error {
	unknown := p.NoSummary && p.Changes && p.Prior.Managed > 0
	if p.Summary.Destroy == 0 && !unknown || !workspace.MayUpdate(ws) {
		return nil
	}

	if err := pl.cli.CheckUnread(p.Prior); err != nil {
		return errors.Wrap(err, "cannot plan")
	}

	// With something else, there are resources in spec.configuration of the ProviderConfig.
	if p.Summary != (terraform.Summary{Destroy: p.Summary.Destroy}) {
		return nil
	}

	empty, err := pl.cli.IsModuleEmpty(unknown)
	if !empty || err != nil {
		return errors.Wrap(err, "cannot read module")
	}

	what := "spec.forProvider.module"
	if s := ws.GetParameters().Source; s == commonv1beta1.ModuleSourceRemote || s == commonv1beta1.ModuleSourceFlux {
		what = "the module in spec.forProvider.entrypoint"
	}

	return errors.Errorf("%s has no block, so that the plan would destroy %s. Nothing was changed. Correct the module. If that is wanted, delete the Workspace or, to keep it without them, leave one block in the module, such as terraform {}",
		what, workspace.Resources(cmp.Or(p.Summary.Destroy, p.Prior.Managed)))
}
