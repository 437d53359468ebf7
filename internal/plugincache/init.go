// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package plugincache lets any number of runs of init, in several processes too, use one plugin
// cache at the same time.
//
// The CLI installs providers into its plugin cache in place: another run may find a part of a
// provider, and the CLI fails when it replaces a provider that is being executed. Therefore each run
// gets a private cache, with links to packages that are known to be complete. After the run, new
// packages in the private cache are moved to the store, where other runs find them. A package in the
// store never changes.
package plugincache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Variable is the environment variable that names the plugin cache.
const Variable = "TF_PLUGIN_CACHE_DIR"

const (
	// mayBreakVariable makes the CLI take a package from its plugin cache although the dependency
	// lock file does not have its checksum yet, as in every first init of a directory.
	mayBreakVariable = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"

	// bundleDir is where the CLI finds packages that are part of a module.
	bundleDir = "terraform.d"
)

// A Run of init.
type Run struct {
	// Root is the directory of the module and all modules that it calls by a relative path.
	Root string

	// Dir is the directory that the CLI runs in: Root or below.
	Dir string

	// Private is the path of a directory that only this run uses, in the file system of Dir. It is
	// made and removed.
	Private string

	// Env of the run, as KEY=VALUE, each key once.
	Env []string

	// Args of the run.
	Args []string

	// Registry is the host of the registry that a provider without one comes from.
	Registry string

	// Observe is called for each package that was installed, with whether it was in the plugin cache.
	// It may be nil. Packages that are part of a module, or in a mirror on this machine, do not count.
	Observe func(hit bool)
}

// Init calls init with the environment for its run. If the environment of the run names a plugin
// cache, the installed packages are links into it at the end.
//
// Init is safe when others use the same plugin cache, and when the process is killed at any time.
// An init waits if no stored version of a provider meets its requirements, and another init is about to
// download one. Without a dependency lock file, the CLI takes the newest version that the constraints
// allow: shortly after its release, several inits may each download it.
func Init(ctx context.Context, r Run, init func(env []string) error) error {
	// The CLI may write to installed providers and so, through a link, to shared files.
	if err := unlinkProviders(r.Dir); err != nil {
		return err
	}

	cache, ok := environ.Lookup(r.Env, Variable)
	if !ok || cache == "" {
		return init(r.Env)
	}

	cache = absolute(r.Dir, cache)

	if info, err := os.Stat(cache); err != nil || !info.IsDir() {
		// The CLI reports the error in it.
		return init(r.Env)
	}

	if r.bundles() {
		return init(environ.Without(r.Env, Variable))
	}

	origin, err := Origin(r.Env, r.Dir)
	if err != nil {
		return err
	}

	return newStore(cache, origin).init(ctx, r, init)
}

// bundles says whether packages may be part of the module, or in a directory that an argument names.
// They are not shared.
func (r Run) bundles() bool {
	_, err := os.Lstat(filepath.Join(r.Dir, bundleDir))

	return err == nil || slices.ContainsFunc(slices.Concat(r.Args, environ.Args(r.Env, "init")), func(arg string) bool { return strings.Contains(arg, "-plugin-dir") })
}

func (s *store) init(ctx context.Context, r Run, init func(env []string) error) error {
	lock, err := readLockFile(r.Dir)
	if err != nil {
		return err
	}

	env := environ.Without(r.Env, Variable)

	mayBreak, chosen := environ.Lookup(env, mayBreakVariable)
	if !chosen {
		env = append(env, mayBreakVariable+"=true")
	}

	// The CLI parses the value like this. Only the user can trust a foreign package without a checksum.
	accept := func(p pkg) bool {
		return lock.accepts(p, mayBreak != "" && mayBreak != "0" || !chosen && !p.foreign)
	}

	done, err := s.lockProviders(ctx, r.needs(ctx).missingFrom(s.packages(), accept))
	if err != nil {
		return err
	}
	defer done()

	given, err := s.initOnce(r, accept, func() error { return init(append(env, Variable+"="+r.Private)) })
	if !s.removeDamaged(r.Dir, given, err) {
		return err
	}

	// The lock file may have the checksum of the damaged package now.
	if err := errors.Join(unlinkProviders(r.Dir), lock.restore(r.Dir)); err != nil {
		return fmt.Errorf("cannot prepare another init, without a damaged provider: %w", err)
	}

	_, err = s.initOnce(r, accept, func() error { return init(append(env, Variable+"="+r.Private)) })

	return err
}

// initOnce calls init with a private plugin cache. It returns the packages there, and shares those that init has installed.
func (s *store) initOnce(r Run, accept func(pkg) bool, init func() error) ([]pkg, error) {
	if err := os.RemoveAll(r.Private); err != nil {
		return nil, fmt.Errorf("cannot remove the private plugin cache of an earlier init: %w", err)
	}
	defer os.RemoveAll(r.Private) //nolint:errcheck // The next init removes the rest.

	given, err := s.populate(r.Private, accept)
	if err != nil {
		return nil, fmt.Errorf("cannot make a private plugin cache: %w", err)
	}

	if err := init(); err != nil {
		return given, err
	}

	if err := s.publish(r); err != nil {
		return given, fmt.Errorf("cannot share installed providers: %w", err)
	}

	return given, nil
}

// A lockFile is the text of a dependency lock file. It is empty if there is none.
type lockFile string

func readLockFile(dir string) (lockFile, error) {
	data, err := regular.Read(filepath.Join(dir, terraform.LockFile), maxConfig)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("cannot read dependency lock file: %w", err)
	}

	return lockFile(data), nil
}

// accepts says whether the CLI would take the package from a plugin cache. Other packages must
// not be in the private cache: the CLI would install the right one over them, and so write to
// files that other runs use.
//
// A locked provider needs the right checksum. unlocked says whether the package is accepted if its
// provider is not locked.
func (l lockFile) accepts(p pkg, unlocked bool) bool {
	if !l.has(p.address) {
		return unlocked
	}

	// Before the files of a foreign package are read.
	if !l.has(p.version) {
		return false
	}

	sum, err := p.checksum()

	return err == nil && l.has(sum)
}

// has says whether the text is in the file, in quotes.
func (l lockFile) has(text string) bool { return strings.Contains(string(l), `"`+text+`"`) }

// publish moves the packages that a run has installed into the store. The directory of the run has no
// link to the private cache afterwards.
func (s *store) publish(r Run) error {
	for _, p := range list(filepath.Join(r.Dir, providersDir)) {
		target, err := os.Readlink(p.dir)
		if err != nil || !strings.HasPrefix(target, r.Private+string(filepath.Separator)) {
			continue // It was not installed from the private cache.
		}

		// A link in the private cache is not new: it is from populate, or leads to a mirror on this machine.
		if linked, err := os.Readlink(target); err == nil {
			if strings.HasPrefix(linked, s.cache+string(filepath.Separator)) {
				r.observe(true)
			}

			if s.owns(linked) {
				s.touch(linked)
			}

			if err := relink(linked, p.dir); err != nil {
				return err
			}

			continue
		}

		r.observe(false)

		if err := s.publishNew(p, target); err != nil {
			return err
		}
	}

	return nil
}

func (r Run) observe(hit bool) {
	if r.Observe != nil {
		r.Observe(hit)
	}
}

// publishNew moves a package from the private cache into the store. If that fails, because the plugin
// cache is read-only or full for example, the package stays in the directory: the run does not fail.
func (s *store) publishNew(p pkg, installed string) error {
	link := p.dir
	p.dir = installed

	if shared, err := s.add(p); err == nil {
		return relink(shared, link)
	}

	if err := os.Remove(link); err != nil {
		return err
	}

	return os.Rename(installed, link)
}

// unlinkProviders removes the providers that a directory shares. Init installs them again.
func unlinkProviders(dir string) error {
	for _, p := range list(filepath.Join(dir, providersDir)) {
		if !shared(p.dir) {
			continue
		}

		if err := os.RemoveAll(p.dir); err != nil {
			return fmt.Errorf("cannot remove link to provider %q: %w", p.address, err)
		}
	}

	return nil
}

// shared says whether a directory is a link, or has files with several hard links.
func shared(dir string) bool {
	if _, err := os.Readlink(dir); err == nil {
		return true
	}

	found := false

	// Files that cannot be read cannot be written to either.
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		stat := unix.Stat_t{}
		if err == nil && e.Type().IsRegular() && unix.Lstat(path, &stat) == nil {
			found = found || stat.Nlink > 1
		}

		return nil
	})

	return found
}
