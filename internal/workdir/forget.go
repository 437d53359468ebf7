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
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// backendName is the file in dataDir in which init records the configuration of the backend,
// including the values of a partial one and credentials.
const backendName = "terraform.tfstate"

// Forget removes files that may contain credentials although no run is in progress: the inputs,
// and the backend configuration that init recorded. It does not remove states. The next user of
// the directory writes the inputs and initializes again.
func (d *Dir) Forget() error {
	// This goes first, so that a failed later step leaves no record of missing files.
	if err := d.ClearInitialized(); err != nil {
		return err
	}

	if err := d.Sync(nil); err != nil {
		return err
	}

	return fs.WalkDir(d.dir.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !e.IsDir():
			return nil
		case e.Name() == gitDir:
			return fs.SkipDir
		case e.Name() != dataDir:
			return nil
		}

		if err := forgetBackend(d.dir, path.Join(name, backendName)); err != nil {
			return fmt.Errorf("cannot remove backend configuration: %w", err)
		}

		return fs.SkipDir
	})
}

// forgetBackend removes the file unless there is no backend configuration in it.
func forgetBackend(root *os.Root, name string) error {
	data, err := regular.ReadIn(root, name, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return err
	}

	recorded := struct {
		Backend *struct{} `json:"backend"`
	}{}
	if json.Unmarshal(data, &recorded) == nil && recorded.Backend == nil {
		return nil
	}

	return root.Remove(name)
}

// LastRun returns the time of the last run in the directory, as far as it is known: a run makes
// and removes files there. A time in the future comes from a clock that was ahead. It is set to
// now.
func (d *Dir) LastRun() (time.Time, error) {
	info, err := d.dir.Stat(".")
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot read working directory: %w", err)
	}

	last, now := info.ModTime(), time.Now()
	if !last.After(now) {
		return last, nil
	}

	if err := d.dir.Chtimes(".", now, now); err != nil {
		return time.Time{}, fmt.Errorf("cannot correct the time of the last run: %w", err)
	}

	return now, nil
}
