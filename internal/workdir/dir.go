// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// ownPrefix begins the names that are reserved in the whole directory.
	ownPrefix = ".crossplane"

	tempName = ".crossplane-temporary"
)

// A File is an input of the CLI.
type File struct {
	Data []byte

	// Secret files are removed by RemoveSecrets.
	Secret bool
}

// A Dir is the directory of one Workspace, until it is closed. Its methods must not be called
// concurrently: only the one reconcile of the Workspace uses it.
//
// The CLI and the programs that a module runs can write to the directory. Its content is therefore
// not trusted: no symbolic link is followed on the way to an input, and files outside are never
// touched.
type Dir struct {
	root *Root
	uid  string

	// dir and records stay open, so that they are always the same directories.
	dir, records *os.Root
}

// Path of the directory, absolute.
func (d *Dir) Path() string { return filepath.Join(d.root.path, d.uid) }

// Sync replaces the inputs in the directory with the given ones, by their slash separated names
// relative to the directory. It writes the files that differ, and removes the inputs of an
// earlier Sync that are not given now. It replaces a file of another writer only if the name is
// given. Each file is replaced as a whole, with mode 0600.
//
// later are the names of secret files that the next Sync will get: they count as given, but are
// not written yet.
//
// Names that lead out of the directory, or that the provider or the CLI uses, are refused before
// anything is written.
func (d *Dir) Sync(files map[string]File, later ...string) error {
	listed := newInputs(files, later...)
	for name := range listed {
		if err := checkName(name); err != nil {
			return err
		}

		// Such a file could replace a state. The manifest of an earlier version may list such names: these
		// files are removed.
		if reservedPath(name) {
			return fmt.Errorf("cannot write %q: the CLI keeps a state or other data under this name: choose another name", name)
		}
	}

	m, err := d.readManifest()
	if err != nil {
		return err
	}

	// New files are recorded before they are written, so that the next Sync knows all files after a
	// failure.
	all := newInputs(nil)
	maps.Copy(all, m.Inputs)
	maps.Copy(all, listed)

	if err := d.recordInputs(m, all); err != nil {
		return err
	}

	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeInput(d.dir, name, files[name]); err != nil {
			return fmt.Errorf("cannot write %q: %w", name, err)
		}
	}

	for name := range all {
		if _, ok := listed[name]; ok {
			continue
		}

		if err := removeInput(d.dir, name); err != nil {
			return fmt.Errorf("cannot remove %q: %w", name, err)
		}
	}

	return d.recordInputs(m, listed)
}

// newInputs lists the files, and the names of further secret files.
func newInputs(files map[string]File, secret ...string) map[string]input {
	listed := make(map[string]input, len(files)+len(secret))
	for name, f := range files {
		listed[name] = input{Secret: f.Secret}
	}

	for _, name := range secret {
		listed[name] = input{Secret: true}
	}

	return listed
}

// recordInputs writes the inputs to the manifest, unless it has them: a poll does not wait for
// the disk.
func (d *Dir) recordInputs(m *manifest, inputs map[string]input) error {
	if maps.Equal(m.Inputs, inputs) {
		return nil
	}

	m.Inputs = inputs

	return d.writeManifest(m)
}

// RemoveSecrets removes the secret files that Sync wrote, and temporary directories, which may
// contain credentials. It succeeds if there is nothing to remove.
func (d *Dir) RemoveSecrets() error {
	m, err := d.readManifest()
	if err != nil {
		return err
	}

	// The file that an interrupted Sync was writing may contain a part of a secret.
	errs := []error{removeInput(d.dir, tempName), d.sweepTempDirs()}

	for name, in := range m.Inputs {
		if !in.Secret {
			continue
		}

		if err := removeInput(d.dir, name); err != nil {
			errs = append(errs, fmt.Errorf("cannot remove %q: %w", name, err))
		}
	}

	return errors.Join(errs...)
}

// Forget removes files that may contain credentials although no run is in progress: the inputs,
// and what init has left, which includes the configuration of the backend. It keeps states, and the
// record of where a backend "local" has its state.
func (d *Dir) Forget() error {
	// First, so that a failed later step leaves no record of missing files.
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
		case e.IsDir() && e.Name() == gitDir:
			return fs.SkipDir
		case e.IsDir() && e.Name() == dataDir:
			// The addresses of modules may contain tokens. Other files may be states of a backend "local".
			// Its record has no credentials, and nothing else says where its state is.
			forgotten := []string{"modules"}
			if _, ok := d.root.localState(d.uid, filepath.Join(d.uid, filepath.Dir(name))); !ok {
				forgotten = append(forgotten, localName)
			}

			for _, written := range forgotten {
				if err := d.dir.RemoveAll(filepath.Join(name, written)); err != nil {
					return fmt.Errorf("cannot remove backend configuration: %w", err)
				}
			}

			return fs.SkipDir
		default:
			return nil
		}
	})
}

// LastRun returns the time of the last change among the records: a run makes and removes files
// there. A time in the future comes from a clock that was ahead. It is set to now.
func (d *Dir) LastRun() (time.Time, error) {
	info, err := d.records.Stat(".")
	if err != nil {
		return time.Time{}, fmt.Errorf("cannot read working directory: %w", err)
	}

	last, now := info.ModTime(), time.Now()
	if !last.After(now) {
		return last, nil
	}

	if err := d.records.Chtimes(".", now, now); err != nil {
		return time.Time{}, fmt.Errorf("cannot correct the time of the last run: %w", err)
	}

	return now, nil
}

// ResolveEntrypoint returns the path of an entrypoint, which must be a directory, relative to this
// directory. An empty one is this directory itself, and leading slashes are ignored. The path has no
// symbolic links, so that names for Sync can begin with it.
func (d *Dir) ResolveEntrypoint(entrypoint string) (string, error) {
	rel, err := CleanEntrypoint(entrypoint)
	if err != nil {
		return "", err
	}

	// os.Root ensures that the path stays inside. regular.Rel only computes it.
	info, err := d.dir.Stat(rel)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}

	if err == nil {
		rel, err = regular.Rel(d.Path(), filepath.Join(d.Path(), rel))
	}

	if err != nil {
		return "", badEntrypoint(entrypoint, reason(err))
	}

	return checkLocal(entrypoint, rel)
}

// CleanEntrypoint is ResolveEntrypoint without access to the directory, so that the path can begin names
// for the Sync that creates it.
func CleanEntrypoint(entrypoint string) (string, error) {
	return checkLocal(entrypoint, filepath.Clean(strings.TrimLeft(entrypoint, "/")))
}

// checkLocal returns the relative path of an entrypoint if it stays inside.
func checkLocal(entrypoint, rel string) (string, error) {
	if !filepath.IsLocal(rel) {
		return "", badEntrypoint(entrypoint, errors.New("it leaves the module"))
	}

	return rel, nil
}

func badEntrypoint(entrypoint string, err error) error {
	return fmt.Errorf("cannot use spec.forProvider.entrypoint %q: %w", entrypoint, err)
}

// Close the directory. It must not be used any more.
func (d *Dir) Close() error { return errors.Join(d.dir.Close(), d.records.Close()) }
