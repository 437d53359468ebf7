// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// backendRecordFile is where init records the backend, relative to the directory that the CLI runs in.
const backendRecordFile = dataDir + "/terraform.tfstate"

// A backendRecord is the backend that init has configured, or zero without one.
type backendRecord struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

// A StatePlace is where the state of a Workspace is kept.
type StatePlace struct {
	OnDisk    bool // Not in a remote backend.
	InWorkdir bool // In the directory of the Workspace, which no other Workspace uses.
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

// checkArgs returns an error if arguments of commands, also from the environment, name a file of a
// state. The command would use that state, while the provider checks the owner of the one in the
// backend.
func (in *Inputs) checkArgs() error {
	p := in.parameters
	words := slices.Concat(p.PlanArgs, p.ApplyArgs, p.DestroyArgs)

	for _, kv := range in.env {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "TF_CLI_ARGS") {
			words = append(words, environ.Words(value)...)
		}
	}

	for _, word := range words {
		// No backup is harmless.
		if !strings.HasPrefix(word, "-") || word == "-backup=-" {
			continue
		}

		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if slices.Contains([]string{"state", "state-out", "backup"}, name) {
			return errors.Errorf(`cannot use the argument "-%s": configure the path of the state in a backend "local" instead`, name)
		}
	}

	return nil
}

func readBackendRecord(dir string) (backendRecord, error) {
	// The module controls the contents of its directory.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return backendRecord{}, err
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	// Real records are smaller.
	data, err := regular.ReadIn(root, backendRecordFile, regular.MiB)
	if errors.Is(err, os.ErrNotExist) {
		return backendRecord{}, nil
	}

	if err != nil {
		return backendRecord{}, err
	}

	record := struct {
		Backend backendRecord `json:"backend"`
	}{}

	err = json.Unmarshal(data, &record)

	return record.Backend, errors.Wrapf(err, "cannot parse %s", backendRecordFile)
}
