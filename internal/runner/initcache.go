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

// restoreInit copies the result of the same init in another directory, if there is one.
// It returns whether the directory is initialized.
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

// storeInit keeps the result of init for other directories. If that fails, they run init.
func (r *Runner) storeInit() {
	if r.initKey != "" {
		_ = r.InitCache.Store(r.initKey, r.Dir.Path(), r.run.Dir)
	}

	r.initKey = ""
}

// forgetInit removes the kept result, because a run has failed with it. The result of the
// next init here is not kept: it depends on the earlier one.
//
// A result that was copied from another directory is removed here, too. Init would refuse
// to change its backend, for example. No run has added anything to it yet.
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
