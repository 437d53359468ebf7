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

// withWayOut returns the supplied error of a destroy, and what a person can do about it if
// the reason is that variables have no value.
//
// A destroy with other values than the last ones, such as the defaults of the module, is
// no way out: the region of a provider may be one of them. Nothing is found in another
// region, and the CLI forgets what it does not find as if it had been destroyed.
func (e *external) withWayOut(ws workspace.Workspace, err error) error {
	if e.runner.Incomplete() == nil || !errors.Is(err, e.runner.Incomplete()) {
		return err
	}

	return errors.Errorf("%w. There are resources to destroy, which takes the values of all variables: restore what is missing, or correct spec.forProvider. "+
		"To delete the Workspace and leave the infrastructure and its state behind, %s", err, howToOrphan(ws))
}

// howToOrphan says how a person makes a deleted Workspace leave everything behind.
func howToOrphan(ws workspace.Workspace) string {
	_, hasDeletionPolicy := ws.(interface {
		GetDeletionPolicy() xpv2.DeletionPolicy
	})

	// Other management policies win over the deletion policy.
	if p := ws.GetManagementPolicies(); hasDeletionPolicy && (len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll)) {
		return "set spec.deletionPolicy to Orphan"
	}

	return `set spec.managementPolicies to ["Observe", "Create", "Update"]`
}
