// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxShared is how many modules are kept for others, and sharedAge how long one is
	// that nobody has asked for.
	maxShared = 64
	sharedAge = 24 * time.Hour

	sharedLockRetry = 100 * time.Millisecond

	// What there is in the directory of a module.
	sharedTree     = "module"
	sharedRevision = "revision"

	lockSuffix = ".lock"
	tempSuffix = ".tmp"
)

// A sharedModules is a directory with modules that were fetched for one Workspace
// and may be used for another. Several processes may use it.
type sharedModules struct {
	dir string
}

// A sharedModule is what was fetched last from one source, with one set of
// credentials.
type sharedModule struct {
	path string
}

// module returns the one for a request.
func (m *sharedModules) module(r Request, s source) *sharedModule {
	return &sharedModule{path: filepath.Join(m.dir, sharedKey(r, s))}
}

// sharedKey stands for everything that a fetch depends on, credentials and what
// else the environment has included: nobody gets what he could not fetch himself.
func sharedKey(r Request, s source) string {
	// The CLI's own variables mean nothing to a fetch, and have paths and inputs that
	// no two Workspaces share.
	env := slices.DeleteFunc(slices.Clone(r.Env), func(kv string) bool { return strings.HasPrefix(kv, "TF_") })

	h := sha256.New()

	// Neither hashes nor texts can fail.
	_ = json.NewEncoder(h).Encode([]any{s.key, r.GitCredentials, env})

	return hex.EncodeToString(h.Sum(nil))
}

// revision of the module, empty if there is none.
func (s *sharedModule) revision() string {
	data, err := os.ReadFile(filepath.Join(s.path, sharedRevision))
	if err != nil {
		return ""
	}

	return string(data)
}

// acquire waits until nobody else has the module. The returned function lets others
// have it.
func (s *sharedModule) acquire(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, err
	}

	l := flock.New(s.path + lockSuffix)
	// There is nothing to be done about an error.
	release = func() { _ = l.Close() }

	if _, err := l.TryLockContext(ctx, sharedLockRetry); err != nil {
		release()

		return nil, err
	}

	return release, nil
}

// copyTo copies the module to a directory that does not exist yet, if it still has
// the revision.
func (s *sharedModule) copyTo(ctx context.Context, dir, revision string) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()

	if s.revision() != revision {
		return errors.New("the shared module has another revision by now")
	}

	// Its age is how long nobody has asked for it.
	now := time.Now()
	if err := os.Chtimes(s.path, now, now); err != nil {
		return err
	}

	return os.CopyFS(dir, os.DirFS(filepath.Join(s.path, sharedTree)))
}

// replace the module by a copy of the one in dir. Whoever calls it has acquired it.
func (s *sharedModule) replace(dir, revision string) error {
	temp := s.path + "-" + rand.Text() + tempSuffix
	defer os.RemoveAll(temp) //nolint:errcheck // It is evicted later.

	if err := os.CopyFS(filepath.Join(temp, sharedTree), os.DirFS(dir)); err != nil {
		return err
	}

	if err := os.WriteFile(filepath.Join(temp, sharedRevision), []byte(revision), 0o600); err != nil {
		return err
	}

	if err := syncFilesystem(temp); err != nil {
		return err
	}

	if err := os.RemoveAll(s.path); err != nil {
		return err
	}

	return os.Rename(temp, s.path)
}

// syncFilesystem writes everything to disk that was changed in the file system of
// dir. A module must not outlive a failure of the machine that its files do not.
func syncFilesystem(dir string) error {
	f, err := os.Open(dir) //nolint:gosec // It is ours.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Nothing is written through it.

	return unix.Syncfs(int(f.Fd()))
}

// evict removes the modules that nobody has asked for lately, and the others that
// are too many. Those that somebody has open stay.
func (m *sharedModules) evict() error {
	found, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}

	var all []fs.FileInfo

	for _, e := range found {
		if info, err := e.Info(); err == nil && info.IsDir() {
			all = append(all, info)
		}
	}

	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })

	for n, info := range all {
		if n < maxShared && time.Since(info.ModTime()) < sharedAge {
			continue
		}

		if err := m.remove(info.Name()); err != nil {
			return errors.Wrap(err, "cannot remove shared module")
		}
	}

	return nil
}

func (m *sharedModules) remove(name string) error {
	path := filepath.Join(m.dir, name)
	if strings.HasSuffix(name, tempSuffix) {
		return os.RemoveAll(path)
	}

	l := flock.New(path + lockSuffix)
	if ok, err := l.TryLock(); !ok || err != nil {
		return err
	}
	defer l.Close() //nolint:errcheck // That unlocks it; there is nothing to be done about an error.

	// The file that is locked stays: another process may be about to lock it.
	return os.RemoveAll(path)
}
