// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withWayOut adds to the error of a destroy what a person can do about variables without a value, a backend
// without its namespace, or a module that refers to something that is gone.
//
// A destroy with other values than the last ones, such as the defaults of the module, would not
// help: the region of a provider may be one of them. The CLI finds no resources in another
// region, and removes them from the state as if they had been destroyed.
func (d *destroyer) withWayOut(ws workspace.Workspace, err error) error {
	if terraform.LacksNamespace(err) {
		return errors.Errorf("%w. The namespace of the state is being deleted, or is gone. To delete the Workspace and leave the infrastructure behind, %s", err, howToOrphan(ws))
	}

	if fetchErr := d.module.FetchError(); fetchErr != nil {
		err = addSentence(err, "This is the module of an earlier fetch, because it cannot be fetched now: "+fetchErr.Error())
	}

	reads := terraform.MissesValue(err) || terraform.CannotRefresh(err)

	switch {
	case (reads || terraform.LacksVariable(err)) && d.module.DestroyLacksVariables():
		return addSentence(err, "Variables that -var and -var-file set in spec.forProvider.planArgs, applyArgs or env TF_CLI_ARGS_... are not set in a destroy: add these arguments to spec.forProvider.destroyArgs")
	case terraform.MissesValue(err):
		return addSentence(err, `The module refers to a value that is gone. To destroy without a look at it, add "-refresh=false" to spec.forProvider.destroyArgs`)
	case reads:
		return addSentence(err, `If what it reads is gone, or not known: to destroy without a look at it, add "-refresh=false" to spec.forProvider.destroyArgs`)
	case terraform.IsKeptByState(err):
		return addSentence(err, "A destroy takes such an argument from the last apply, and a change of the module has no effect any more: lift the protection, or delete the object, by hand. Or, if a backend has the state, to apply the change, "+
			howToOrphan(ws)+", and create the Workspace again with the same external name and the corrected module")
	case d.module.Incomplete() == nil || !errors.Is(err, d.module.Incomplete()):
		return orLeaveBehind(ws, err)
	default:
		return errors.Errorf("%w. To destroy the resources, or to read an encrypted state, takes the values of all variables: restore what is missing, or correct spec.forProvider. "+
			"To delete the Workspace and leave the infrastructure and its state behind, %s", err, howToOrphan(ws))
	}
}

// A brokenModuleError says that a module is broken, or cannot be fetched, whose resources are to be destroyed.
type brokenModuleError struct{ error }

func (e brokenModuleError) Unwrap() error { return e.error }

// orLeaveBehind adds to an error that prevents a deletion how to delete the Workspace nevertheless, if the error may
// not pass by itself: something is missing that the specification refers to, the state cannot be read or is in
// another backend, the module is broken, or it does not let a resource be destroyed.
func orLeaveBehind(ws workspace.Workspace, err error) error {
	broken := terraform.IsOfDeletion(err) && mayBeBroken(err)
	if !broken && !kerrors.IsNotFound(err) && !terraform.CannotLoadState(err) && !terraform.IsBackendChange(err) && !terraform.IsUnrelatedState(err) && !terraform.IsPrevented(err) &&
		!errors.As(err, &brokenModuleError{}) {
		return err
	}

	return addSentence(err, "If that cannot be mended: to delete the Workspace and leave the infrastructure and its state behind, "+howToOrphan(ws))
}

// addSentence adds a sentence to an error, which may end with a stop.
func addSentence(err error, sentence string) error {
	if strings.HasSuffix(err.Error(), ".") {
		return errors.Errorf("%w %s", err, sentence)
	}

	return errors.Errorf("%w. %s", err, sentence)
}

// howToOrphan says how a person can delete a Workspace and keep its infrastructure.
func howToOrphan(ws workspace.Workspace) string {
	_, hasDeletionPolicy := ws.(resource.Orphanable)

	// Other management policies take precedence over the deletion policy.
	if p := ws.GetManagementPolicies(); hasDeletionPolicy && (len(p) == 0 || slices.Contains(p, xpv2.ManagementActionAll)) {
		return "set spec.deletionPolicy to Orphan"
	}

	return `set spec.managementPolicies to ["Observe", "Create", "Update"]`
}
