// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/internal/dircache"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// storeDir, in the plugin cache, contains all data of this package.
	storeDir = ".crossplane"

	// packagesDir contains the packages, each named after the checksum of its files.
	packagesDir = "packages"

	// originsDir has one directory per origin, with links to packages in the layout of a plugin
	// cache. Origins share the files of a package that each of them has downloaded.
	originsDir = "origins"

	// locksDir contains the locks of downloads.
	locksDir = "locks"

	// providersDir is where the CLI keeps the providers of a directory, in the layout of a plugin
	// cache. With a plugin cache they are links to it.
	providersDir = ".terraform/providers"

	// checksumPrefix begins the checksum of a directory in a dependency lock file.
	checksumPrefix = "h1:"
)

// A pkg is the package of a provider, unpacked.
type pkg struct {
	// address of the provider: host, namespace and type.
	address string

	version, platform string

	// dir contains its files.
	dir string

	// checksum returns the checksum of its files, in the format of a dependency lock file.
	checksum func() (string, error)

	// foreign says that another program put it into the plugin cache: it may be incomplete.
	foreign bool
}

// path returns its path in a plugin cache.
func (p pkg) path() string { return filepath.Join(p.address, p.version, p.platform) }

// A store is the shared part of a plugin cache, for the runs of one origin.
type store struct {
	// cache is the plugin cache, dir the directory of this package in it, and origin the directory
	// of the origin.
	cache, dir, origin string

	files dircache.Cache
}

func newStore(cache, origin string) *store {
	dir := filepath.Join(cache, storeDir)

	return &store{
		cache:  cache,
		dir:    dir,
		origin: filepath.Join(dir, originsDir, origin),
		files:  dircache.Cache{Dir: filepath.Join(dir, packagesDir), MaxAge: maxUnused, MinAge: minRetention, MaxBytes: maxPackages},
	}
}

// packages returns the packages of the origin, then the foreign packages in the plugin cache.
func (s *store) packages() []pkg {
	var all []pkg

	for _, p := range list(s.origin) {
		// The link is resolved once: it may be replaced.
		dir, err := os.Readlink(p.dir)
		if err != nil {
			continue
		}

		p.dir = dir
		p.checksum = func() (string, error) { return checksumOf(filepath.Base(dir)), nil }
		all = append(all, p)
	}

	for _, p := range list(s.cache) {
		p.foreign = true
		all = append(all, p)
	}

	return all
}

// list the packages in a directory with the layout of a plugin cache. Only packages may be links: the
// directory may be that of a module, with links in circles.
func list(dir string) []pkg {
	fsys := os.DirFS(dir)

	var all []pkg

	for version := range regular.Dirs(fsys, ".", "[^.]*", "*", "*", "*") {
		platforms, _ := fs.ReadDir(fsys, version)
		for _, platform := range platforms {
			abs := filepath.Join(dir, version, platform.Name())
			if info, err := os.Stat(abs); err != nil || !info.IsDir() {
				continue
			}

			all = append(all, pkg{
				address:  path.Dir(version),
				version:  path.Base(version),
				platform: platform.Name(),
				dir:      abs,
				checksum: sync.OnceValues(func() (string, error) { return hashDir(abs) }),
			})
		}
	}

	return all
}

// populate makes a plugin cache in dir that has the acceptable packages, and returns them. It does not mark them as
// used: publish marks those that the run installs. Otherwise no old version would ever expire.
func (s *store) populate(dir string, accept func(pkg) bool) ([]pkg, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}

	given := slices.DeleteFunc(s.packages(), func(p pkg) bool { return !accept(p) })

	for _, p := range given {
		link := filepath.Join(dir, p.path())
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			return nil, err
		}

		if err := os.Symlink(p.dir, link); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}

	return given, nil
}

// add moves the files of a complete package into the store, and returns their new path.
func (s *store) add(p pkg) (string, error) {
	sum, err := hashDir(p.dir)
	if err != nil {
		return "", err
	}

	name := nameOf(sum)
	dir := s.files.Path(name)

	if _, err := os.Lstat(dir); err != nil {
		if err := s.files.Put(name, func(empty string) error { return move(p.dir, empty) }); err != nil {
			return "", err
		}
	}

	s.touch(dir)

	// Without it, other runs of the origin download the package again.
	link := filepath.Join(s.origin, p.path())
	_ = os.MkdirAll(filepath.Dir(link), 0o700)
	_ = relink(dir, link)

	return dir, nil
}

// touch marks a package as used. A package that cannot be marked, for lack of permission, can be used.
func (s *store) touch(dir string) { _ = s.files.Touch(filepath.Base(dir)) }

// owns says whether a directory is a package in the store, according to its path.
func (s *store) owns(dir string) bool { return filepath.Dir(dir) == s.files.Dir }

// lockPath returns the path of the lock of a provider. Two providers rarely share one: their number is
// limited, because these files are never removed.
func (s *store) lockPath(address string) string {
	sum := sha256.Sum256([]byte(s.origin + "\n" + address))

	return filepath.Join(s.dir, locksDir, hex.EncodeToString(sum[:2]))
}

// move moves the directory src to dst, which is an empty directory.
func move(src, dst string) error {
	// Unlike os.Rename, it replaces an empty directory.
	err := unix.Rename(src, dst)
	if errors.Is(err, unix.EXDEV) {
		return os.CopyFS(dst, os.DirFS(src))
	}

	return err
}

// relink puts a symbolic link at path, and replaces an existing one.
func relink(target, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	return os.Symlink(target, path)
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

// nameOf returns the name of the package with the checksum, which may contain slashes.
func nameOf(checksum string) string {
	return strings.ReplaceAll(strings.TrimPrefix(checksum, checksumPrefix), "/", "_")
}

// checksumOf returns the checksum for a name of nameOf.
func checksumOf(name string) string { return checksumPrefix + strings.ReplaceAll(name, "_", "/") }
