// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// recordsDir, below the root, has what the provider records about each directory, by UID. It is not in the directory:
// modules package their own directory, or hash it, and the records change with each run.
const recordsDir = ".records"

// Records is the absolute path of the directory for what is recorded about this one. Modules do not have it.
func (d *Dir) Records() string { return filepath.Join(d.root.path, recordsDir, d.uid) }

// ReadRecord decodes the record of this name, and says whether there is one. A module can write to it: more than limit is not read.
func (d *Dir) ReadRecord(name string, record any, limit int64) (bool, error) {
	data, err := regular.ReadIn(d.records, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("cannot read the record of the working directory: %w", err)
	}

	if err := json.Unmarshal(data, record); err != nil {
		return true, fmt.Errorf("cannot parse the record of the working directory, %q: %w", name, err)
	}

	return true, nil
}

// WriteRecord writes the record of this name, in place of the earlier one. If it is durable, which waits for the disk, one of the two
// complete records is there after a failure of the machine.
func (d *Dir) WriteRecord(name string, record any, limit int64, durable bool) error {
	data, err := json.Marshal(record)

	switch {
	case err != nil:
	case int64(len(data)) > limit: // No later run could read it, not even with a smaller module.
		err = fmt.Errorf("it would have more than %s: use a module with fewer files", regular.Size(limit))
	default:
		err = replaceFile(d.records, name, data, durable)
	}

	if err != nil {
		return fmt.Errorf("cannot write the record of the working directory: %w", err)
	}

	return nil
}

// RemoveRecord removes the record of this name, if there is one.
func (d *Dir) RemoveRecord(name string) error {
	if err := d.records.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the record of the working directory: %w", err)
	}

	return nil
}

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
