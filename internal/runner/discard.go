// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// discardProviders removes the providers that init has installed, also those from the plugin cache that the error names, and their
// checksums unless they are of the module.
func (r *Runner) discardProviders(broken error) error {
	plugincache.Discard(r.pluginCacheRun(), broken)

	if err := os.RemoveAll(filepath.Join(r.run.Dir, terraform.DataDir, "providers")); err != nil {
		return errors.Wrap(err, "cannot remove providers")
	}

	_, err := r.discardChecksums()

	return err
}

// forgetChecksums removes the checksums that an earlier init has recorded, of a broken package for example, if this one has failed because
// of them. Users cannot reach that file.
func (r *Runner) forgetChecksums(err error) error {
	if !terraform.HasOtherChecksums(err) || r.inStateDir {
		return err
	}

	if discarded, _ := r.discardChecksums(); !discarded {
		return err
	}

	return errors.Errorf("%w. The module has no %s, so that the next try accepts the package", err, terraform.LockFile)
}

// discardChecksums removes the checksums of providers that init has recorded. It returns false if they are of the module.
func (r *Runner) discardChecksums() (bool, error) {
	rel, err := r.Dir.ResolveEntrypoint(r.Inputs.parameters.Entrypoint)
	if err != nil {
		return false, err
	}

	name := path.Join(rel, terraform.LockFile)
	if _, given := r.Inputs.all()[name]; given || slices.Contains(r.Dir.TreeFiles(), name) {
		return false, nil
	}

	if err := os.Remove(filepath.Join(r.Dir.Path(), name)); err != nil && !os.IsNotExist(err) {
		return false, errors.Wrap(err, "cannot remove checksums of providers")
	}

	return true, nil
}
