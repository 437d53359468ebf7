// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withWayOut returns the supplied error of a destroy. If variables without a value are the
// reason, it adds what a person can do about that.
//
// A destroy with other values than the last ones, such as the defaults of the module, would not
// help: the region of a provider may be one of them. The CLI finds no resources in another
// region, and removes them from the state as if they had been destroyed.
func (e *external) withWayOut(ws workspace.Workspace, err error) error {
	if e.runner.Incomplete() == nil || !errors.Is(err, e.runner.Incomplete()) {
		return err
	}

	return errors.Errorf("%w. There are resources to destroy, which takes the values of all variables: restore what is missing, or correct spec.forProvider. "+
		"To delete the Workspace and leave the infrastructure and its state behind, %s", err, howToOrphan(ws))
}

// howToOrphan says how a person can delete a Workspace and keep its infrastructure.
func howToOrphan(ws workspace.Workspace) string {
	_, hasDeletionPolicy := ws.(interface {
		GetDeletionPolicy() xpv2.DeletionPolicy
	})

	// Other management policies take precedence over the deletion policy.
	if p := ws.GetManagementPolicies(); hasDeletionPolicy && (len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll)) {
		return "set spec.deletionPolicy to Orphan"
	}

	return `set spec.managementPolicies to ["Observe", "Create", "Update"]`
}
