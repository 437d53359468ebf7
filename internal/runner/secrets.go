// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// RemoveSecrets removes the plan, which has secrets in it, and all secret inputs from a
// working directory.
func RemoveSecrets(dir *workdir.Dir) error {
	if err := os.Remove(filepath.Join(dir.Path(), planFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Wrap(err, "cannot remove plan")
	}

	// Init stores the configuration of a backend in its data.
	if err := os.RemoveAll(filepath.Join(dir.Path(), stateOnlyDir)); err != nil {
		return errors.Wrap(err, "cannot remove directory without module")
	}

	return errors.Wrap(dir.RemoveSecrets(), "cannot remove secrets")
}
