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
	// deleting begins the name of a directory while it is removed, so that it does not count as that of
	// a Workspace.
	deleting = ".deleting-"

	// keptDir, below the root, has the only states of Workspaces that no longer exist, by UID. The
	// provider removes nothing there.
	keptDir = ".unsaved-states"

	// unsavedName begins the names of states that no run could save.
	unsavedName = "errored.tfstate"

	// localName is the name of a state without a backend. Each Terraform workspace has it in a directory
	// of its own.
	localName = "terraform.tfstate"

	// maxState is the longest state without a backend that is read. A longer one has resources.
	maxState = 64 * regular.MiB

	// SupersededSuffix follows the name of such a state that is out of date, but is the only record
	// of what its run created. The time follows.
	SupersededSuffix = ".superseded-"
)

// Remove removes the directory of the Workspace with this UID, unless it is in use, and says whether
// it is gone. After an error, a part of a directory that is gone may be left: see RemoveRemains.
//
// States that may be nowhere else are kept: see Unsaved. The Workspace may have had no backend, and was
// deleted without its infrastructure. Or its finalizer was removed during a run that could not save
// its state.
func (r *Root) Remove(uid string) (bool, error) {
	if !isUID(uid) {
		return false, fmt.Errorf("%q is not the UID of a Workspace", uid)
	}

	removed := false

	var left error

	_, err := r.unused(uid, true, func(*Dir) error {
		if err := r.writable(uid, r.keepStates); err != nil {
			return err
		}
		// An earlier removal may have left it.
		if err := r.writable(deleting+uid, r.removeAll); err != nil {
			return err
		}

		removed = true

		if err := r.dir.Rename(uid, deleting+uid); err != nil {
			return err
		}

		left = r.removeOrphanedRecords(uid) // If some are left, Sweep removes them.

		return nil
	})

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("cannot remove working directory: %w", err)
	case !removed:
		return false, nil
	}

	// Otherwise an expired mark of another machine would stay in memory.
	r.mu.Lock()
	delete(r.seen, uid)
	r.mu.Unlock()

	return true, errors.Join(left, r.removeRest(deleting+uid))
}

// RemoveRemains removes what interrupted removals have left.
func (r *Root) RemoveRemains() error {
	names, err := namesWith(r.dir, ".", deleting)
	if err != nil {
		return err
	}

	var errs []error

	for _, name := range names {
		if isUID(strings.TrimPrefix(name, deleting)) {
			errs = append(errs, r.removeRest(name))
		}
	}

	return errors.Join(errs...)
}

func (r *Root) removeRest(name string) error {
	if err := r.writable(name, r.removeAll); err != nil {
		return fmt.Errorf("cannot remove the rest of a working directory: %w", err)
	}

	return nil
}

// writable calls fn with the name of a directory. If fn fails, it makes all directories below
// accessible, and calls fn again: some programs make read-only ones.
func (r *Root) writable(name string, fn func(string) error) error {
	err := fn(name)
	if err == nil {
		return nil
	}

	MakeAccessible(r.dir, name)

	return fn(name)
}

// MakeAccessible lets this user change the directory of this name and all below. It returns no error: the change that follows says
// more.
func MakeAccessible(root *os.Root, name string) {
	_ = fs.WalkDir(root.FS(), name, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = root.Chmod(path, 0o700)
		}

		return nil
	})
}

// keepStates moves states that no run could save, and those without a backend, to keptDir.
func (r *Root) keepStates(uid string) error {
	return fs.WalkDir(r.dir.FS(), uid, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot check for states that are nowhere else: %w", err)
		case e.IsDir() && e.Name() == dataDir:
			if err := r.keepLocalState(uid, path.Dir(name)); err != nil {
				return err
			}

			return fs.SkipDir
		case e.IsDir() && e.Name() == gitDir:
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		case isStateName(e.Name()) && (e.Name() != localName || r.mayRecord(name)):
			return r.keepState(name)
		}

		return nil
	})
}

// isStateName says whether keepStates takes any file of this name for a state.
func isStateName(name string) bool {
	return name == localName || strings.HasPrefix(name, unsavedName)
}

// keepLocalState keeps the state of a backend "local" in dir, a directory of the Workspace with this UID,
// unless keepStates recognizes it by its name.
func (r *Root) keepLocalState(uid, dir string) error {
	name, ok := r.localState(uid, dir)
	if !ok || isStateName(path.Base(name)) || !r.mayRecord(name) {
		return nil
	}

	return r.keepState(name)
}

// localState returns the path, below the root, of the state of a backend "local", according to the record
// of init in dir. It returns false if there is none in the directory of the Workspace with this UID.
func (r *Root) localState(uid, dir string) (string, bool) {
	file := statePath(r.dir, r.Path(), dir)
	if file == "" {
		return "", false
	}

	name, err := regular.Rel(r.Path(), file)
	if err != nil || !strings.HasPrefix(name, uid+"/") {
		return "", false
	}

	info, err := r.dir.Lstat(name)

	return name, err == nil && info.Mode().IsRegular()
}

// mayRecord says whether a state may have resources: also one that cannot be read, is encrypted, or has
// an unknown version.
func (r *Root) mayRecord(name string) bool {
	data, err := regular.ReadIn(r.dir, name, maxState)
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

func (r *Root) keepState(name string) error {
	kept := path.Join(keptDir, name)

	err := r.dir.MkdirAll(path.Dir(kept), 0o700)
	if err == nil {
		err = r.dir.Rename(name, kept)
	}

	if err == nil {
		err = r.dir.Chmod(kept, 0o600)
	}

	if err != nil {
		return fmt.Errorf("cannot keep %q, a state that is nowhere else: %w", name, err)
	}

	return nil
}

// Unsaved returns the UIDs of removed directories whose states were kept.
func (r *Root) Unsaved() ([]string, error) { return namesWith(r.dir, keptDir, "") }
