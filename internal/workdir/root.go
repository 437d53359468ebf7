// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package workdir keeps one directory for each Workspace, named after its UID, below a common
// root that several instances may share. It never touches files outside of that directory.
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

// clusterName is the file, below the root, that names the cluster of the root.
const clusterName = ".cluster"

// A Root is the directory that holds the directories of all Workspaces. Its methods may be called
// concurrently, by other processes too.
type Root struct {
	path string
	dir  *os.Root

	// removeAll is that of dir, except in tests.
	removeAll func(name string) error

	host string

	// longest time that this process uses a directory.
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

	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("cannot open the root of working directories: %w", err)
	}

	return &Root{path: abs, dir: dir, removeAll: dir.RemoveAll, host: hostID(), longest: longest, seen: map[string]sighting{}}, nil
}

// Usable returns the absolute path of a directory, which it creates if it does not exist. It fails
// if this process could not make files there.
func Usable(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		err = probe(abs)
	}

	if err != nil {
		return "", fmt.Errorf("cannot use %q: name a directory that user %d may create and write to: %w", path, os.Geteuid(), reason(err))
	}

	return abs, nil
}

// probe makes and removes a file below path.
func probe(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil { //nolint:gosec // The operator names the directory.
		return err
	}

	f, err := os.CreateTemp(path, ".probe-")
	if err != nil {
		return err
	}

	return errors.Join(f.Close(), os.Remove(f.Name())) //nolint:gosec // It was made here.
}

// Bind binds the root to a cluster. It fails if the root is bound to another one: the directories
// of that cluster's Workspaces would be removed as garbage.
func (r *Root) Bind(cluster string) error {
	if err := r.writeCluster(cluster); err != nil {
		return fmt.Errorf("cannot mark %q as that of this cluster: %w", r.path, err)
	}

	owner, err := r.dir.ReadFile(clusterName)
	if err != nil {
		return fmt.Errorf("cannot find out which cluster %q belongs to: %w", r.path, err)
	}

	if got := strings.TrimSpace(string(owner)); got != cluster {
		return fmt.Errorf("%q belongs to cluster %q, and this is %q: use another directory for each cluster, or, if that cluster is gone or has become this one, delete %s",
			r.path, got, cluster, filepath.Join(r.path, clusterName))
	}

	return nil
}

// writeCluster writes the file unless it exists. Of several concurrent calls, one writes it. An
// empty file does not count: a failure of the machine may leave one.
func (r *Root) writeCluster(cluster string) error {
	info, err := r.dir.Lstat(clusterName)

	empty := err == nil && info.Size() == 0
	if !empty && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The file gets its name when its content is complete.
	temp := clusterName + "-" + rand.Text()
	defer r.dir.Remove(temp) //nolint:errcheck // It may have got its name.

	if err := r.dir.WriteFile(temp, []byte(cluster+"\n"), 0o600); err != nil {
		return err
	}

	err = r.dir.Link(temp, clusterName)
	if err == nil || errors.Is(err, fs.ErrExist) && !empty {
		return nil
	}
	// The file is empty, or the file system has no hard links.
	return r.dir.Rename(temp, clusterName)
}

// Path of the root, absolute.
func (r *Root) Path() string { return r.path }

// Dir opens the directory of the Workspace with this UID. It creates a missing one.
func (r *Root) Dir(uid string) (*Dir, error) {
	if !isUID(uid) {
		return nil, fmt.Errorf("%q is not the UID of a Workspace", uid)
	}

	err := r.removeOrphanedRecords(uid)
	if err == nil {
		err = r.dir.Mkdir(uid, 0o700)
	}

	if errors.Is(err, fs.ErrExist) {
		// Chmod would follow a link. It fails if an earlier pod ran as another user, with the same group.
		if err = checkDir(r.dir, uid); err == nil {
			err = r.dir.Chmod(uid, 0o700)
		}

		if errors.Is(err, fs.ErrPermission) {
			err = nil
		}
	}

	if err != nil {
		return nil, fmt.Errorf("cannot create working directory: %w", err)
	}

	return r.open(uid)
}

// open opens the directory of a Workspace, which must exist. It does not follow a symbolic link
// in its place.
func (r *Root) open(uid string) (*Dir, error) {
	if err := checkDir(r.dir, uid); err != nil {
		return nil, fmt.Errorf("cannot open working directory: %w", err)
	}

	dir, err := r.dir.OpenRoot(uid)
	if err != nil {
		return nil, fmt.Errorf("cannot open working directory: %w", err)
	}

	records, err := r.openRecords(uid)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open records of working directory: %w", err), dir.Close())
	}

	return &Dir{root: r, uid: uid, dir: dir, records: records}, nil
}

// List returns the UIDs that have a directory. Everything else below the root, including symbolic
// links, does not belong to the provider.
func (r *Root) List() ([]string, error) {
	// By its path, a root that is gone is an error. The open directory would be empty.
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

// isUID reports whether s is a UID in the form of Kubernetes: no two names may stand for the same
// Workspace.
func isUID(s string) bool {
	u, err := uuid.Parse(s)

	return err == nil && u.String() == s
}

// reason returns the cause of an error, without the operation and the path of package os. Messages
// name the path in the user's terms.
func reason(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}

	return err
}

// namesWith returns the names in a directory, if it exists, that begin with a prefix. Unlike fs.Glob,
// it does not hide an error of the disk.
func namesWith(root *os.Root, dir, prefix string) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list %q: %w", filepath.Join(root.Name(), dir), err)
	}

	var names []string

	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}

	return names, nil
}
