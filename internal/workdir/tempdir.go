// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// fetchPrefix begins the names of temporary directories.
const fetchPrefix = ".crossplane-fetch-"

// TempDir makes an empty directory in this one, for a tree that ReplaceTree is to move into
// place, and returns its absolute path. The caller removes it. TempDir also removes directories
// that a killed process left behind.
func (d *Dir) TempDir() (string, error) {
	if err := d.sweepTempDirs(); err != nil {
		return "", err
	}

	name := fetchPrefix + rand.Text()
	if err := d.dir.Mkdir(name, 0o700); err != nil {
		return "", fmt.Errorf("cannot create temporary directory: %w", err)
	}

	return filepath.Join(d.Path(), name), nil
}

// inTempDir returns the path of src relative to this directory. It fails if src is not inside a
// temporary directory.
func (d *Dir) inTempDir(src string) (string, error) {
	rel, err := filepath.Rel(d.Path(), src)
	if err != nil || !filepath.IsLocal(rel) || !strings.HasPrefix(rel, fetchPrefix) || !strings.Contains(rel, "/") {
		return "", fmt.Errorf("cannot use %q as a module: it is not in a temporary directory of %q", src, d.Path())
	}

	return rel, nil
}

// sweepTempDirs removes all temporary directories.
func (d *Dir) sweepTempDirs() error {
	entries, err := fs.ReadDir(d.dir.FS(), ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // The whole directory was removed.
	}

	if err != nil {
		return fmt.Errorf("cannot list working directory: %w", err)
	}

	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), fetchPrefix) {
			continue
		}

		if err := d.dir.RemoveAll(e.Name()); err != nil {
			return fmt.Errorf("cannot remove temporary directory: %w", err)
		}
	}

	return nil
}
