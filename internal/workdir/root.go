// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workdir keeps one directory for each Workspace, named after its UID, below a common
// root that several instances may share. It never touches files outside of the directory to which
// a given name belongs.
package workdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// deleting begins the name of a directory while it is removed. No UID begins with it, so
// that a half-removed directory is never taken for a live one.
const deleting = ".deleting-"

// A Root is the directory that holds the directories of all Workspaces. Its
// methods may be called concurrently, by other processes too.
type Root struct {
	path string

	// host of this process, and the longest time that it uses a directory.
	host    string
	longest time.Duration

	// seen holds the marks of other machines, by UID.
	mu   sync.Mutex
	seen map[string]sighting
}

// Open returns the Root at path, which it creates if it does not exist. longest is the longest time
// that this process uses a directory.
func Open(path string, longest time.Duration) (*Root, error) {
	abs, err := Usable(path)
	if err != nil {
		return nil, err
	}

	return &Root{path: abs, host: hostID(), longest: longest, seen: map[string]sighting{}}, nil
}

// Usable returns the absolute path of a directory, which it creates if it does not exist. It fails
// if this process could not make files there.
func Usable(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot use %q: %w", path, err)
	}

	if err := probe(abs); err != nil {
		return "", fmt.Errorf("cannot use %q: name a directory that user %d may create and write to: %w", path, os.Geteuid(), reason(err))
	}

	return abs, nil
}

// probe makes and removes a file below path.
func probe(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil { //nolint:gosec // The operator names the directory.
		return err
	}

	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	name := ".probe-" + rand.Text()
	if err := root.WriteFile(name, nil, 0o600); err != nil {
		return err
	}

	return root.Remove(name)
}

// Path of the root, absolute.
func (r *Root) Path() string { return r.path }

// Dir opens the directory of the Workspace with this UID. It creates a missing one.
func (r *Root) Dir(uid string) (*Dir, error) {
	if !isUID(uid) {
		return nil, fmt.Errorf("%q is not the UID of a Workspace", uid)
	}

	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the root of working directories: %w", err)
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	err = root.Mkdir(uid, 0o700)
	if errors.Is(err, fs.ErrExist) {
		err = restrict(root, uid)
	}

	if err != nil {
		return nil, fmt.Errorf("cannot create working directory: %w", err)
	}

	return r.open(uid)
}

// open opens the directory of a Workspace, which must exist. It does not follow a symbolic link
// in its place.
func (r *Root) open(uid string) (*Dir, error) {
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the root of working directories: %w", err)
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	if err := checkDir(root, uid); err != nil {
		return nil, fmt.Errorf("cannot open working directory: %w", err)
	}

	dir, err := root.OpenRoot(uid)
	if err != nil {
		return nil, fmt.Errorf("cannot open working directory: %w", err)
	}

	return &Dir{root: r, uid: uid, dir: dir}, nil
}

// restrict removes the permissions of all other users on a directory.
func restrict(root *os.Root, name string) error {
	if err := checkDir(root, name); err != nil {
		return err
	}

	return root.Chmod(name, 0o700)
}

// List returns the UIDs that have a directory. Everything else below the root, including symbolic
// links, does not belong to the provider.
func (r *Root) List() ([]string, error) {
	entries, err := os.ReadDir(r.path)
	if err != nil {
		return nil, fmt.Errorf("cannot list working directories: %w", err)
	}

	uids := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() && isUID(e.Name()) {
			uids = append(uids, e.Name())
		}
	}

	return uids, nil
}

// Remove removes the directory of the Workspace with this UID, unless it is in use, and the
// remains of any interrupted removal. It succeeds if the directory does not exist, and says
// whether it is gone.
//
// The directory may have the only copy of a state: if the Workspace has no backend and was deleted
// without its infrastructure, or if its finalizer was removed by hand in the middle of a run that
// cannot save its state. Such states are kept: see Unsaved.
func (r *Root) Remove(uid string) (bool, error) {
	if !isUID(uid) {
		return false, fmt.Errorf("%q is not the UID of a Workspace", uid)
	}

	root, err := os.OpenRoot(r.path)
	if err != nil {
		return false, fmt.Errorf("cannot open the root of working directories: %w", err)
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	if err := sweep(root); err != nil {
		return false, err
	}

	removed := false

	_, err = r.unused(uid, true, func(*Dir) error {
		if err := keepStates(root, uid); err != nil {
			return err
		}

		removed = true

		return root.Rename(uid, deleting+uid)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}

	if err != nil {
		return false, fmt.Errorf("cannot remove working directory: %w", err)
	}

	if !removed {
		return false, nil
	}

	// Otherwise the sighting of an expired mark of another machine would stay in memory.
	r.dropSighting(uid)

	return true, sweep(root)
}

// sweep removes the directories that are marked for deletion.
func sweep(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("cannot list working directories: %w", err)
	}

	for _, e := range entries {
		uid, ok := strings.CutPrefix(e.Name(), deleting)
		if !ok || !isUID(uid) {
			continue
		}

		if err := root.RemoveAll(e.Name()); err != nil {
			return fmt.Errorf("cannot remove working directory: %w", err)
		}
	}

	return nil
}

// isUID reports whether s is a UID in the form of Kubernetes. Other forms of a UUID are refused:
// no two names may stand for the same Workspace.
func isUID(s string) bool {
	u, err := uuid.Parse(s)

	return err == nil && u.String() == s
}

// reason returns the cause of an error, without the operation and the path that package os puts
// before it. Messages name the path in the user's terms.
func reason(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}

	return err
}
