// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// recordsDir, below the root, has what the provider records about each directory, by UID. It is not in the directory:
// modules package their own directory, or hash it, and the records change with each run.
const recordsDir = ".records"

// Records is the absolute path of the directory for what is recorded about this one. Modules do not have it.
func (d *Dir) Records() string { return filepath.Join(d.root.path, recordsDir, d.uid) }

// openRecords opens the directory for what is recorded about that of the UID. It creates a missing one.
func (r *Root) openRecords(uid string) (*os.Root, error) {
	name := filepath.Join(recordsDir, uid)

	err := r.dir.MkdirAll(name, 0o700)
	for _, dir := range []string{recordsDir, name} {
		// A module can put a link there.
		if err == nil {
			err = checkDir(r.dir, dir)
		}
	}

	if err != nil {
		return nil, err
	}

	return r.dir.OpenRoot(name)
}

// removeOrphanedRecords removes the records about a directory that does not exist. They would say of the next one with
// this UID that its files, and its state, are there.
func (r *Root) removeOrphanedRecords(uid string) error {
	// A module can put a link there.
	if err := checkDir(r.dir, recordsDir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}

		return err
	}

	if _, err := r.dir.Lstat(uid); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	return r.dir.RemoveAll(path.Join(recordsDir, uid))
}
