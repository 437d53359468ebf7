// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/plugincache"
)

// restoreInit spares the directory an init if the same was done elsewhere. It
// returns whether the directory is initialized.
func (s *session) restoreInit() (bool, error) {
	if !initcache.Fresh(s.target.Dir) || s.wantsInit() {
		return false, nil
	}

	key, err := s.newInitKey()
	if err != nil {
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

// wantsInit says whether init has to run because it does more than its inputs say:
// it looks for something newer, or gets the module itself.
func (s *session) wantsInit() bool {
	words := slices.Clone(s.in.parameters.InitArgs)

	for _, kv := range s.target.Env {
		if name, value, _ := strings.Cut(kv, "="); name == "TF_CLI_ARGS" || name == "TF_CLI_ARGS_init" {
			words = append(words, value)
		}
	}

	return slices.ContainsFunc(words, func(word string) bool {
		return strings.Contains(word, "-upgrade") || strings.Contains(word, "-from-module")
	})
}

// newInitKey returns a digest of everything that init depends on: all files that it
// may read, what decides where providers come from, and the environment that the
// Workspace asks for, which has credentials of backends and of module sources.
// Input variables are left out, so that Workspaces that differ in nothing else share
// the result: where init depends on one after all, the next run asks for init.
func (s *session) newInitKey() (string, error) {
	var variables []string
	for _, path := range s.varFiles {
		rel, err := filepath.Rel(s.dir.Path(), path)
		if err != nil {
			return "", err
		}

		variables = append(variables, filepath.ToSlash(rel))
	}

	files, err := s.dir.Files(variables...)
	if err != nil {
		return "", errors.Wrap(err, "cannot read module")
	}

	env := slices.DeleteFunc(slices.Clone(s.in.env), func(kv string) bool { return strings.HasPrefix(kv, "TF_VAR_") })

	return s.in.initKey(files, env, string(s.cli.Product()), s.cli.Path(), s.cli.Version(), plugincache.Origin(s.target.Env)), nil
}
