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

// keepsModule returns an error if the CLI does not read a file of the module with resources, or if the plan would destroy resources
// because there is nothing left of the module: a template may have been rendered to nothing. prevent_destroy was in
// the module, too.
func (pl *planner) keepsModule(ws workspace.Workspace, p *terraform.Plan) error {
	if workspace.OnlyObserves(ws) {
		return nil
	}

	if err := pl.cli.CheckUnread(); err != nil {
		return errors.Wrap(err, "cannot plan")
	}

	destroys := p.Summary.Destroy > 0 || p.NoSummary && p.Changes && p.Prior.Resources > 0
	// With something else, there are resources in spec.configuration of the ProviderConfig.
	if p.Summary != (terraform.Summary{Destroy: p.Summary.Destroy}) || !destroys || !workspace.MayUpdate(ws) {
		return nil
	}

	empty, err := pl.cli.IsModuleEmpty()
	if !empty || err != nil {
		return errors.Wrap(err, "cannot read module")
	}

	what := "spec.forProvider.module"
	if s := ws.GetParameters().Source; s == commonv1beta1.ModuleSourceRemote || s == commonv1beta1.ModuleSourceFlux {
		what = "the module in spec.forProvider.entrypoint"
	}

	return errors.Errorf("%s has no block, so that the plan would destroy %s. Nothing was changed. Correct the module. If that is wanted, delete the Workspace or, to keep it without them, leave one block in the module, such as terraform {}",
		what, workspace.Resources(cmp.Or(p.Summary.Destroy, p.Prior.Resources)))
}
