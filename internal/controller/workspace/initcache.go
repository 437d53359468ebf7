// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
)

// restoreInit spares the directory an init if the same was done elsewhere. It
// returns whether the directory is initialized.
func (s *session) restoreInit() (bool, error) {
	if !initcache.Fresh(s.target.Dir) || s.wantsInit() {
		return false, nil
	}

	key, err := s.newInitKey()
	if err != nil || key == "" {
		return false, err
	}

	s.initKey = key

	if !s.initCache.Restore(key, s.target.Dir) {
		return false, nil
	}

	s.restored = true

	return true, s.dir.MarkInitialized(s.in.parameters.Entrypoint, s.initDigest())
}

// storeInit spares others the init that was done here. A failure costs them an init.
func (s *session) storeInit() {
	if s.initKey != "" {
		_ = s.initCache.Store(s.initKey, s.dir.Path(), s.target.Dir)
	}

	s.initKey = ""
}

// forgetInit makes others not use what turned out to be no good here. What is done
// here from now on is not for them, because it depends on what was here before.
//
// What others left is no good here then: init would refuse to go on with another
// backend than theirs, for example. Nothing of this directory is in there yet.
func (s *session) forgetInit() error {
	if s.initKey != "" {
		_ = s.initCache.Forget(s.initKey)
	}

	s.initKey = ""

	if !s.restored {
		return nil
	}

	s.restored = false

	return errors.Wrap(os.RemoveAll(filepath.Join(s.target.Dir, dataDir)), "cannot remove what init left elsewhere")
}
