// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// unsavedDir, below the root, has the states that no run could save, of Workspaces that no
	// longer exist, by UID. This provider never removes anything there.
	unsavedDir = ".unsaved-states"

	// unsavedName begins the names of such states.
	unsavedName = "errored.tfstate"

	// SupersededSuffix follows the name of such a state that is out of date, but is the only record
	// of what its run created. The time follows.
	SupersededSuffix = ".superseded-"
)

// keepStates moves the states that no run could save out of a directory that is about to be
// removed. They may be the only record of the infrastructure.
func keepStates(root *os.Root, uid string) error {
	return fs.WalkDir(root.FS(), uid, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return errors.Wrap(err, "cannot check for states that were not saved")
		case e.IsDir() && (e.Name() == dataDir || e.Name() == gitDir):
			return fs.SkipDir
		case !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), unsavedName):
			return nil
		}

		return errors.Wrapf(keepState(root, name), "cannot keep %q, a state that was not saved", name)
	})
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

// Unsaved returns the UIDs of Workspaces that no longer exist and have left a state that
// no run could save.
func (r *Root) Unsaved() ([]string, error) {
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, errors.Wrap(err, "cannot open the root of working directories")
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	entries, err := fs.ReadDir(root.FS(), unsavedDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	uids := make([]string, 0, len(entries))
	for _, e := range entries {
		uids = append(uids, e.Name())
	}

	return uids, errors.Wrap(err, "cannot list states that were not saved")
}
