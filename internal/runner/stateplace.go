// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// backendRecordFile is where init records which backend it has configured, relative to the
// directory that the CLI runs in.
const backendRecordFile = dataDir + "/terraform.tfstate"

// maxBackendRecord limits its size. Real records are smaller.
const maxBackendRecord = 1 << 20

// A backendRecord says which backend init has configured. The zero value stands for a directory
// without a backend.
type backendRecord struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

// A StatePlace is where the state of a Workspace is kept.
type StatePlace struct {
	// OnDisk says that it is on a disk, not in a remote backend.
	OnDisk bool

	// InWorkdir says that it is in the directory of the Workspace, which no other Workspace uses.
	InWorkdir bool
}

// StatePlace returns where the state is, according to the record of init. The text of the
// configuration is not enough: arguments and environment of init matter, too.
func (r *Runner) StatePlace() (StatePlace, error) {
	if r.run == nil {
		return StatePlace{}, errors.New("cannot find out where the state is: the directory is not initialized")
	}

	record, err := readBackendRecord(r.run.Dir)
	if err != nil {
		return StatePlace{}, errors.Wrap(err, "cannot find out where the state is")
	}

	onDisk := record.Type == "" || record.Type == "local"

	return StatePlace{OnDisk: onDisk, InWorkdir: onDisk && record.Config["path"] == nil && record.Config["workspace_dir"] == nil}, nil
}

// readBackendRecord returns the record of init in the supplied directory.
func readBackendRecord(dir string) (backendRecord, error) {
	// The module controls the contents of its directory.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return backendRecord{}, err
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	info, err := root.Stat(backendRecordFile)
	if errors.Is(err, os.ErrNotExist) {
		return backendRecord{}, nil
	}

	if err != nil {
		return backendRecord{}, err
	}

	if !info.Mode().IsRegular() || info.Size() > maxBackendRecord {
		return backendRecord{}, errors.Errorf("%s is not a record of a backend", backendRecordFile)
	}

	f, err := root.Open(backendRecordFile)
	if err != nil {
		return backendRecord{}, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	record := struct {
		Backend backendRecord `json:"backend"`
	}{}

	err = json.NewDecoder(io.LimitReader(f, maxBackendRecord)).Decode(&record)

	return record.Backend, errors.Wrapf(err, "cannot parse %s", backendRecordFile)
}
