// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
)

// restoreInit spares the directory an init if the same was done elsewhere. It
// returns whether the directory is initialized.
func (r *Runner) restoreInit() (bool, error) {
	if !initcache.Fresh(r.run.Dir) || r.wantsInit() {
		return false, nil
	}

	key, err := r.newInitKey()
	if err != nil || key == "" {
		return false, err
	}

	r.initKey = key

	if !r.InitCache.Restore(key, r.run.Dir) {
		return false, nil
	}

	r.restored = true

	return true, r.Dir.MarkInitialized(r.Inputs.parameters.Entrypoint, r.initDigest())
}

// storeInit spares others the init that was done here. A failure costs them an init.
func (r *Runner) storeInit() {
	if r.initKey != "" {
		_ = r.InitCache.Store(r.initKey, r.Dir.Path(), r.run.Dir)
	}

	r.initKey = ""
}

// forgetInit makes others not use what turned out to be no good here. What is done
// here from now on is not for them, because it depends on what was here before.
//
// What others left is no good here then: init would refuse to go on with another
// backend than theirs, for example. Nothing of this directory is in there yet.
func (r *Runner) forgetInit() error {
	if r.initKey != "" {
		_ = r.InitCache.Forget(r.initKey)
	}

	r.initKey = ""

	if !r.restored {
		return nil
	}

	r.restored = false

	return errors.Wrap(os.RemoveAll(filepath.Join(r.run.Dir, dataDir)), "cannot remove what init left elsewhere")
}
