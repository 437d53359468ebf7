// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// removeDamaged removes packages whose files are not those that were stored, after a crash of the machine for example. It says
// whether there was one, so that another init downloads it again. It gets the packages that the init was given, and its error.
func (s *store) removeDamaged(dir string, given []pkg, err error) bool {
	removed := false

	for _, suspect := range s.suspects(dir, given, err) {
		if sum, err := hashDir(suspect); err != nil || sum != checksumOf(filepath.Base(suspect)) {
			removed = s.files.Remove(filepath.Base(suspect)) == nil || removed
		}
	}

	return removed
}

// suspects returns the directories of packages that may be damaged. To compute all checksums after each init would take as
// long as the init.
func (s *store) suspects(dir string, given []pkg, err error) []string {
	var all []string

	if err != nil {
		// The CLI breaks its texts into lines.
		text := strings.Join(strings.Fields(err.Error()), " ")
		aboutCache := strings.Contains(text, "existing cached package") || strings.Contains(text, "from shared cache")

		for _, p := range given {
			// Terraform does not name the host.
			if aboutCache && s.owns(p.dir) && strings.Contains(text, path.Join(path.Base(path.Dir(p.address)), path.Base(p.address))) {
				all = append(all, p.dir)
			}
		}

		return all
	}

	// A successful init has computed the checksums of new providers itself.
	lock, _ := readLockFile(dir)

	for _, p := range list(filepath.Join(dir, providersDir)) {
		if target, err := os.Readlink(p.dir); err == nil && s.owns(target) && !lock.has(checksumOf(filepath.Base(target))) {
			all = append(all, target)
		}
	}

	return all
}

// Discard removes the packages that the directory of a run uses, and that its error names, from the plugin cache: their programs do
// not run on this machine, although they are what was downloaded. The next init of any directory downloads them again.
func Discard(r Run, err error) {
	cache, ok := environ.Lookup(r.Env, Variable)
	if !ok || cache == "" {
		return
	}

	s := newStore(absolute(r.Dir, cache), "")

	for _, p := range list(filepath.Join(r.Dir, providersDir)) {
		// Only a part of it is the address of another provider.
		if target, _ := os.Readlink(p.dir); s.owns(target) && strings.Contains(err.Error(), `"`+p.address+`"`) {
			_ = s.files.Remove(filepath.Base(target)) // If it stays, the next run fails like this one.
		}
	}
}

// restore writes the dependency lock file of a directory again, not through a link that the module may have in its place.
func (l lockFile) restore(dir string) error {
	name := filepath.Join(dir, terraform.LockFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if l == "" {
		return nil
	}

	return os.WriteFile(name, []byte(l), 0o600)
}
