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
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// unsavedDir, below the root, has the only states of Workspaces that no longer exist, by UID. This
	// provider never removes anything there.
	unsavedDir = ".unsaved-states"

	// unsavedName begins the names of states that no run could save.
	unsavedName = "errored.tfstate"

	// localName is the name of a state without a backend. Each Terraform workspace has it in a
	// directory of its own.
	localName = "terraform.tfstate"

	// maxState is the longest state without a backend that is read. A longer one has resources.
	maxState = 64 * regular.MiB

	// SupersededSuffix follows the name of such a state that is out of date, but is the only record
	// of what its run created. The time follows.
	SupersededSuffix = ".superseded-"
)

// keepStates moves the states that no run could save, and those without a backend, out of a directory
// that is about to be removed. They may be the only record of the infrastructure.
func keepStates(root *os.Root, uid string) error {
	return fs.WalkDir(root.FS(), uid, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot check for states that are nowhere else: %w", err)
		case e.IsDir() && (e.Name() == dataDir || e.Name() == gitDir):
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		case strings.HasPrefix(e.Name(), unsavedName) || (e.Name() == localName && mayRecord(root, name)):
			if err := keepState(root, name); err != nil {
				return fmt.Errorf("cannot keep %q, a state that is nowhere else: %w", name, err)
			}
		}

		return nil
	})
}

// mayRecord says whether a state may have resources. Only a state that is read, of a known version
// and not encrypted, is known to have none.
func mayRecord(root *os.Root, name string) bool {
	data, err := regular.ReadIn(root, name, maxState)
	if err != nil {
		return true
	}

	// The lock of a state makes an empty file.
	if len(data) == 0 {
		return false
	}

	s := struct {
		Version   int `json:"version"`
		Resources []struct {
			Mode      string            `json:"mode"`
			Instances []json.RawMessage `json:"instances"`
		} `json:"resources"`
	}{}
	if err := json.Unmarshal(data, &s); err != nil || s.Version != 4 || s.Resources == nil {
		return true
	}

	for _, r := range s.Resources {
		if r.Mode != "data" && len(r.Instances) > 0 {
			return true
		}
	}

	return false
}

func keepState(root *os.Root, name string) error {
	kept := path.Join(unsavedDir, name)
	if err := root.MkdirAll(path.Dir(kept), 0o700); err != nil {
		return err
	}

	if err := root.Rename(name, kept); err != nil {
		return err
	}

	return root.Chmod(kept, 0o600)
}

// Unsaved returns the UIDs of Workspaces that no longer exist and have left a state that is nowhere
// else.
func (r *Root) Unsaved() ([]string, error) {
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the root of working directories: %w", err)
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	entries, err := fs.ReadDir(root.FS(), unsavedDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("cannot list states that are nowhere else: %w", err)
	}

	uids := make([]string, 0, len(entries))
	for _, e := range entries {
		uids = append(uids, e.Name())
	}

	return uids, nil
}
