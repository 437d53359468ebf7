// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"fmt"
	"path/filepath"
)

// dataDir is the directory to which init installs, below the directory that it runs in.
const dataDir = ".terraform"

// MarkInitialized records that init succeeded in the entrypoint, and the digest of everything
// that its result depends on. It replaces an earlier mark.
func (d *Dir) MarkInitialized(entrypoint, digest string) error {
	rel, err := d.resolve(entrypoint)
	if err != nil {
		return fmt.Errorf(badEntrypoint+": %w", entrypoint, reason(err))
	}

	m, err := d.readManifest()
	if err != nil {
		return err
	}

	m.Initialized = &initialized{Entrypoint: rel, Digest: digest}

	return d.writeManifest(m)
}

// Initialized returns the digest that MarkInitialized recorded for the entrypoint. It is empty if
// there is none, or if the result of init does not exist any more: in both cases init has to run.
func (d *Dir) Initialized(entrypoint string) string {
	rel, err := d.resolve(entrypoint)
	if err != nil {
		return ""
	}

	m, err := d.readManifest()
	if err != nil || m.Initialized == nil || m.Initialized.Entrypoint != rel || checkDir(d.dir, filepath.Join(rel, dataDir)) != nil {
		return ""
	}

	return m.Initialized.Digest
}

// ClearInitialized removes the record of MarkInitialized. It is called before init, which may
// fail after some steps.
func (d *Dir) ClearInitialized() error {
	m, err := d.readManifest()
	if err != nil || m.Initialized == nil {
		return err
	}

	m.Initialized = nil

	return d.writeManifest(m)
}

// Initialized returns the absolute paths of all directories in which init ran, as MarkInitialized
// recorded them.
func (r *Root) Initialized() ([]string, error) {
	uids, err := r.List()
	if err != nil {
		return nil, err
	}

	var paths []string

	for _, uid := range uids {
		d, err := r.open(uid)
		if err != nil {
			continue // It was removed, or has to be initialized again.
		}

		if m, err := d.readManifest(); err == nil && m.Initialized != nil {
			paths = append(paths, filepath.Join(d.Path(), m.Initialized.Entrypoint))
		}

		_ = d.Close()
	}

	return paths, nil
}
