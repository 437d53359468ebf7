// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// storeDir, in the plugin cache, holds everything of this package. Other files in the
	// plugin cache come from other programs.
	storeDir = ".crossplane"

	// packagesDir holds the packages, each named by the checksum of its files. None
	// is ever changed or replaced.
	packagesDir = "packages"

	// originsDir holds, for every origin, links to its packages.
	originsDir = "origins"

	// locksDir holds the files that are locked while a run downloads a provider.
	locksDir = "locks"

	// tempDir holds files that are not complete yet.
	tempDir = "tmp"

	// tempAge is when something in tempDir was left there by a process that is gone.
	tempAge = 24 * time.Hour

	// checksumPrefix begins the checksum of a directory in a dependency lock file.
	checksumPrefix = "h1:"
)

// A pkg is the package of a provider, unpacked.
type pkg struct {
	// address of the provider: host, namespace and type.
	address string

	version, platform string

	// dir holds its files.
	dir string

	// checksum returns that of its files, in the format of a dependency lock file.
	checksum func() (string, error)

	// foreign says that another program put it into the plugin cache: it may not be
	// complete, or may differ from its name.
	foreign bool
}

// path where the CLI expects it in a plugin cache.
func (p pkg) path() string { return filepath.Join(p.address, p.version, p.platform) }

// A store is the shared side of a plugin cache, seen by those with one origin.
type store struct {
	cache string
	dir   string
	links string
}

func newStore(cache, origin string) *store {
	dir := filepath.Join(cache, storeDir)

	return &store{cache: cache, dir: dir, links: filepath.Join(dir, originsDir, origin)}
}

// packages returns the packages of the store, then the foreign packages in the plugin
// cache.
func (s *store) packages() []pkg {
	all := list(s.links)
	for i, p := range all {
		// The link is resolved once: it may be replaced.
		dir, err := os.Readlink(filepath.Join(s.links, p.path()))
		if err != nil {
			dir = p.dir
		}

		all[i].dir = dir
		all[i].checksum = func() (string, error) { return checksumOf(filepath.Base(dir)) }
	}

	for _, p := range list(s.cache) {
		p.foreign = true
		all = append(all, p)
	}

	return all
}

// list the packages in a directory with the layout of a plugin cache.
func list(dir string) []pkg {
	// The pattern is well-formed, which is all that can be wrong.
	paths, _ := fs.Glob(os.DirFS(dir), "*/*/*/*/*")
	all := make([]pkg, 0, len(paths))

	for _, path := range paths {
		parts := strings.Split(path, "/")
		abs := filepath.Join(dir, path)

		if info, err := os.Stat(abs); strings.HasPrefix(path, ".") || err != nil || !info.IsDir() {
			continue
		}

		all = append(all, pkg{
			address:  strings.Join(parts[:3], "/"),
			version:  parts[3],
			platform: parts[4],
			dir:      abs,
			checksum: sync.OnceValues(func() (string, error) { return hashDir(abs) }),
		})
	}

	return all
}

// add moves the files of a package, which is complete, into the store, and returns their
// new path.
func (s *store) add(ctx context.Context, p pkg) (string, error) {
	sum, err := p.checksum()
	if err != nil {
		return "", errors.Wrap(err, "cannot compute checksum")
	}

	name, err := nameOf(sum)
	if err != nil {
		return "", err
	}

	if err := s.mkdirs(); err != nil {
		return "", err
	}

	defer s.use(ctx)()

	dir := filepath.Join(s.dir, packagesDir, name)
	if err := s.place(p.dir, dir); err != nil {
		return "", err
	}

	s.touch(name)

	return dir, s.link(dir, filepath.Join(s.links, p.path()))
}

func (s *store) mkdirs() error {
	for _, name := range []string{packagesDir, originsDir, locksDir, tempDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			return err
		}
	}

	return s.sweep()
}

// place moves the directory src to dst, which appears with everything in it and on
// disk. If dst is there already it stays, and src is not needed.
func (s *store) place(src, dst string) error {
	if _, err := os.Lstat(dst); err == nil {
		return nil
	}

	if err := syncFiles(src); err != nil {
		return err
	}

	err := os.Rename(src, dst)
	if isCrossDevice(err) {
		var temp string
		if temp, err = os.MkdirTemp(filepath.Join(s.dir, tempDir), "package-"); err != nil {
			return err
		}
		defer os.RemoveAll(temp) //nolint:errcheck // It is swept later.

		if err := os.CopyFS(temp, os.DirFS(src)); err != nil {
			return err
		}

		if err := syncFiles(temp); err != nil {
			return err
		}

		err = os.Rename(temp, dst)
	}

	if errors.Is(err, fs.ErrExist) {
		return nil // Another run has added the same files.
	}

	return err
}

// link makes a symbolic link at path, in place of the one that may be there.
func (s *store) link(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}

	return replaceByLink(target, path, filepath.Join(s.dir, tempDir))
}

// sweep removes files from tempDir that processes left there which no longer run.
func (s *store) sweep() error {
	dir := filepath.Join(s.dir, tempDir)

	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err == nil && dircache.Age(path, info, time.Now()) > tempAge {
			// Another instance may be doing the same.
			_ = os.RemoveAll(path)
		}
	}

	return nil
}

// hashDir returns the checksum of the files in a directory.
func hashDir(dir string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}

	files, err := dirhash.DirFiles(resolved, "")
	if err != nil {
		return "", err
	}

	return dirhash.Hash1(files, func(name string) (io.ReadCloser, error) { return regular.Open(filepath.Join(resolved, name)) })
}

// nameOf returns the name of the directory for a package with the checksum: other
// than the checksum itself it has no slashes.
func nameOf(checksum string) (string, error) {
	sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(checksum, checksumPrefix))

	return hex.EncodeToString(sum), errors.Wrapf(err, "cannot decode checksum %q", checksum)
}

// checksumOf returns the checksum that nameOf has made the name of.
func checksumOf(name string) (string, error) {
	sum, err := hex.DecodeString(name)

	return checksumPrefix + base64.StdEncoding.EncodeToString(sum), errors.Wrapf(err, "cannot decode name %q", name)
}
