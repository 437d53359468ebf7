// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// publish moves the packages that a run has installed into the store. Afterwards, the directory
// of the run has links to the store, and none to the private cache.
func (s *store) publish(r Run) error {
	for _, p := range list(filepath.Join(r.Dir, providersDir)) {
		target, err := os.Readlink(p.dir)
		if err != nil || !strings.HasPrefix(target, r.Private+string(filepath.Separator)) {
			continue // It was not installed from the private cache.
		}

		// Links in the private cache are not new packages: it was populated with them, or they lead
		// to a mirror on this machine.
		if linked, err := os.Readlink(target); err == nil {
			if strings.HasPrefix(linked, s.cache+string(filepath.Separator)) {
				r.observe(true)
			}

			if s.owns(linked) {
				s.touch(linked)
			}

			if err := relink(linked, p.dir); err != nil {
				return err
			}

			continue
		}

		r.observe(false)

		if err := s.publishNew(p, target); err != nil {
			return err
		}
	}

	return nil
}

func (r Run) observe(hit bool) {
	if r.Observe != nil {
		r.Observe(hit)
	}
}

// publishNew moves a package that was installed in the private cache into the store. If that
// fails, because the plugin cache is read-only or full for example, the package stays in the
// directory: this is no reason to fail the run.
func (s *store) publishNew(p pkg, installed string) error {
	link := p.dir
	p.dir = installed

	if shared, err := s.add(p); err == nil {
		return relink(shared, link)
	}

	if err := os.Remove(link); err != nil {
		return err
	}

	return os.Rename(installed, link)
}

// unlinkProviders removes the providers that a directory shares with others. Init
// installs them again.
func unlinkProviders(dir string) error {
	for _, p := range list(filepath.Join(dir, providersDir)) {
		if !shared(p.dir) {
			continue
		}

		if err := os.RemoveAll(p.dir); err != nil {
			return fmt.Errorf("cannot remove link to provider %q: %w", p.address, err)
		}
	}

	return nil
}

// shared says whether a directory is a link, or has files with several hard links.
func shared(dir string) bool {
	if _, err := os.Readlink(dir); err == nil {
		return true
	}

	found := false

	// Files that cannot be read cannot be written to either.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		stat := unix.Stat_t{}
		if err == nil && e.Type().IsRegular() && unix.Lstat(path, &stat) == nil {
			found = found || stat.Nlink > 1
		}

		return nil
	})

	return found
}
