// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// backendRecordFile is where init leaves which backend it has configured, relative to the
// directory that the CLI runs in.
const backendRecordFile = dataDir + "/terraform.tfstate"

// maxBackendRecord bounds its size: none is as large.
const maxBackendRecord = 1 << 20

// A backendRecord says which backend init has configured. The zero value is that of a
// directory without a backend.
type backendRecord struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

// A statePlace is where the state of a Workspace is kept.
type statePlace struct {
	// onDisk says that it is on a disk, not in a remote backend.
	onDisk bool

	// inWorkdir says that it is in the directory of the Workspace, which no other Workspace
	// has.
	inWorkdir bool
}

// statePlace returns where the state is, according to what init has left. The text of the
// configuration does not tell: init has arguments, and an environment.
func (s *session) statePlace() (statePlace, error) {
	if s.target == nil {
		return statePlace{}, errors.New("cannot find out where the state is: the directory is not initialized")
	}

	r, err := readBackendRecord(s.target.Dir)
	if err != nil {
		return statePlace{}, errors.Wrap(err, "cannot find out where the state is")
	}

	onDisk := r.Type == "" || r.Type == "local"

	return statePlace{onDisk: onDisk, inWorkdir: onDisk && r.Config["path"] == nil && r.Config["workspace_dir"] == nil}, nil
}

// readBackendRecord returns what init has left in the supplied directory.
func readBackendRecord(dir string) (backendRecord, error) {
	// The module decides what is in its directory.
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
