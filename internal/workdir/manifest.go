// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// manifestName is the file of the manifest.
	manifestName = "manifest.json"

	// dataDir is the directory to which init installs, below the directory that it runs in.
	dataDir = ".terraform"

	// maxManifest is the size of the largest manifest. It lists at most all files of a module.
	maxManifest = 64 * regular.MiB
)

// A manifest is the provider's record about a directory, for later runs.
type manifest struct {
	// Inputs that Sync wrote, by name.
	Inputs map[string]input `json:"inputs,omitempty"`

	// Module that ReplaceTree put into the directory.
	Module module `json:"module,omitzero"`

	// Initialized is nil unless init succeeded.
	Initialized *initialized `json:"initialized,omitempty"`

	// States are the paths of local backends that init has ever configured, below the directory.
	States []string `json:"states,omitempty"`

	// Run is the record of WriteRun.
	Run json.RawMessage `json:"run,omitempty"`
}

type input struct {
	Secret bool `json:"secret,omitempty"`
}

// A module lists the files that come from it, so that no other file, such as a state between them,
// is touched.
type module struct {
	// Revision is empty while the files are being replaced.
	Revision string `json:"revision,omitempty"`

	// Files that may exist because of a module.
	Files []string `json:"files,omitempty"`
}

// initialized says where init succeeded, and with which inputs.
type initialized struct {
	Entrypoint string `json:"entrypoint"`
	Digest     string `json:"digest"`
}

// readManifest returns the manifest of the directory. It is empty if there is none.
func (d *Dir) readManifest() (*manifest, error) {
	m := &manifest{}

	if _, err := d.ReadRecord(manifestName, m, maxManifest); err != nil {
		return nil, err
	}

	if err := m.check(); err != nil {
		return nil, fmt.Errorf("cannot use the record of the working directory, %q: %w", manifestName, err)
	}

	return m, nil
}

// check checks the names in the manifest: programs of a module can write to it, and files of these
// names are deleted.
func (m *manifest) check() error {
	for name := range m.Inputs {
		if err := checkName(name); err != nil {
			return err
		}
	}

	for _, name := range m.Module.Files {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || reservedPath(name) {
			return fmt.Errorf("%q is no file of a module", name)
		}
	}

	for _, name := range m.States {
		if !filepath.IsLocal(name) || path.Clean(name) != name {
			return fmt.Errorf("%q is no state in the directory", name)
		}
	}

	if m.Initialized != nil && !filepath.IsLocal(m.Initialized.Entrypoint) {
		return fmt.Errorf("%q is no entrypoint", m.Initialized.Entrypoint)
	}

	return nil
}

func (d *Dir) writeManifest(m *manifest) error {
	return d.WriteRecord(manifestName, m, maxManifest, true)
}

// WriteRun records a run, in place of the earlier one. If the machine fails, one of the two complete
// records is there.
func (d *Dir) WriteRun(run any) error {
	m, err := d.readManifest()
	if err != nil {
		return err
	}

	if m.Run, err = json.Marshal(run); err != nil {
		return fmt.Errorf("cannot encode the record of a run: %w", err)
	}

	return d.writeManifest(m)
}

// ReadRun decodes the record of WriteRun, and says whether there is one.
func (d *Dir) ReadRun(run any) (bool, error) {
	m, err := d.readManifest()
	if err != nil || m.Run == nil {
		return false, err
	}

	if err := json.Unmarshal(m.Run, run); err != nil {
		return true, fmt.Errorf("cannot decode the record of a run: %w", err)
	}

	return true, nil
}

// MarkInitialized records that init succeeded in the entrypoint, and the digest of everything
// that its result depends on. It replaces an earlier mark.
func (d *Dir) MarkInitialized(entrypoint, digest string) error {
	rel, err := d.ResolveEntrypoint(entrypoint)
	if err != nil {
		return err
	}

	m, err := d.readManifest()
	if err != nil {
		return err
	}

	// Without a backend, providers and modules, init makes none. Without this, such a module would be initialized at each
	// poll: a missing directory means that the result of init is gone.
	if err := d.dir.MkdirAll(filepath.Join(rel, dataDir), 0o700); err != nil {
		return fmt.Errorf("cannot create %q: %w", dataDir, err)
	}

	m.Initialized = &initialized{Entrypoint: rel, Digest: digest}
	d.noteState(m, rel)

	return d.writeManifest(m)
}

// Initialized returns the digest that MarkInitialized recorded for the entrypoint. It is empty if
// init has to run, also because its result does not exist any more.
func (d *Dir) Initialized(entrypoint string) string {
	rel, err := d.ResolveEntrypoint(entrypoint)
	if err != nil {
		return ""
	}

	m, err := d.readManifest()
	if err != nil || m.Initialized == nil || m.Initialized.Entrypoint != rel || checkDir(d.dir, filepath.Join(rel, dataDir)) != nil {
		return ""
	}

	return m.Initialized.Digest
}

// ClearInitialized removes the record of MarkInitialized, before an init that may fail halfway.
func (d *Dir) ClearInitialized() error {
	m, err := d.readManifest()
	if err != nil || m.Initialized == nil {
		return err
	}

	d.noteState(m, m.Initialized.Entrypoint) // Init may remove its record.
	m.Initialized = nil

	return d.writeManifest(m)
}

// Initialized returns the absolute paths of all directories that MarkInitialized recorded.
func (r *Root) Initialized() ([]string, error) {
	uids, err := r.List()
	if err != nil {
		return nil, err
	}

	var paths []string

	for _, uid := range uids {
		d, err := r.open(uid)
		if err != nil {
			continue // It was removed, or has to be initialized again.
		}

		if m, err := d.readManifest(); err == nil && m.Initialized != nil {
			paths = append(paths, filepath.Join(d.Path(), m.Initialized.Entrypoint))
		}

		_ = d.Close()
	}

	return paths, nil
}
