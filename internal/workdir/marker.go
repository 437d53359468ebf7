// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"io/fs"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// dataDir is the directory to which init installs, in the directory that it ran in.
const dataDir = ".terraform"

// A marker records the inputs that the directory was initialized with.
type marker struct {
	Entrypoint string `json:"entrypoint"`
	Digest     string `json:"digest"`
}

// MarkInitialized records that init succeeded in the entrypoint, and the digest of
// everything that its result depends on. An earlier mark is forgotten.
func (d *Dir) MarkInitialized(entrypoint, digest string) error {
	rel, err := d.resolve(entrypoint)
	if err != nil {
		return errors.Wrapf(reason(err), badEntrypoint, entrypoint)
	}

	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Every file written through it was closed and checked.

	data, err := json.Marshal(marker{Entrypoint: rel, Digest: digest})
	if err != nil {
		return errors.Wrap(err, "cannot encode the result of init")
	}

	return errors.Wrap(writeFile(root, markerName, data), "cannot record that init succeeded")
}

// Initialized returns the digest that MarkInitialized recorded for the entrypoint. It is
// empty if there is none, or if the result of init is no longer there: in both cases init
// has to run.
func (d *Dir) Initialized(entrypoint string) string {
	rel, err := d.resolve(entrypoint)
	if err != nil {
		return ""
	}

	root, err := d.open()
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	m, ok := d.readMarker()
	if !ok || m.Entrypoint != rel {
		return ""
	}

	if err := checkDir(root, filepath.Join(rel, dataDir)); err != nil {
		return ""
	}

	return m.Digest
}

// Initialized returns the absolute paths of all directories that init ran in, as
// MarkInitialized recorded it.
func (r *Root) Initialized() ([]string, error) {
	uids, err := r.List()
	if err != nil {
		return nil, err
	}

	var paths []string

	for _, uid := range uids {
		d := &Dir{root: r, uid: uid}
		if m, ok := d.readMarker(); ok {
			paths = append(paths, filepath.Join(d.Path(), m.Entrypoint))
		}
	}

	return paths, nil
}

// readMarker returns the record of MarkInitialized, if there is one.
func (d *Dir) readMarker() (marker, bool) {
	root, err := d.open()
	if err != nil {
		return marker{}, false
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	m := marker{}

	data, err := regular.ReadIn(root, markerName, maxList)
	if err != nil || json.Unmarshal(data, &m) != nil || !filepath.IsLocal(m.Entrypoint) {
		return marker{}, false
	}

	return m, true
}

// ClearInitialized removes the record of MarkInitialized. It is called before init, which
// may fail halfway.
func (d *Dir) ClearInitialized() error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	if err := root.Remove(markerName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Wrap(err, "cannot forget that init succeeded")
	}

	return nil
}
