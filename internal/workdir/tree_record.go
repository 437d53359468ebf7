// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// treeName is the file that records which module is in the directory.
const treeName = ".crossplane-module.json"

// A tree is the record of the module in the directory. It names every file, so that other
// files, above all a state that the CLI wrote between them, are never touched.
type tree struct {
	// Revision of the module. Empty while its files are being replaced.
	Revision string `json:"revision,omitempty"`

	// Files that are, or may be, there because of a module.
	Files []string `json:"files"`
}

// TreeRevision returns the revision that ReplaceTree recorded. It is empty if there
// is no complete tree: none at all, one that is half replaced, one that misses a
// file, or one with a file that an input written by Sync covers. The last is
// because Sync removes its inputs when they are no longer wanted, and has nothing
// to put in their place; whether it will do so next is not known here. A module
// that has a file of the same name as an input is therefore fetched for every run.
func (d *Dir) TreeRevision() string {
	t := d.completeTree()

	return t.Revision
}

// TreeFiles returns the slash separated names of the files of the tree, in order,
// relative to the directory; none if the tree is not complete.
func (d *Dir) TreeFiles() []string {
	t := d.completeTree()

	return t.Files
}

// completeTree returns the record of the tree if it is complete, and an empty one
// otherwise.
func (d *Dir) completeTree() tree {
	root, err := d.open()
	if err != nil {
		return tree{}
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	t, err := readTree(root)
	if err != nil || t.Revision == "" {
		return tree{}
	}

	inputs, err := readManifest(root)
	if err != nil {
		return tree{}
	}

	for _, name := range t.Files {
		if _, covered := inputs[name]; covered {
			return tree{}
		}

		if _, err := root.Lstat(name); err != nil {
			return tree{}
		}
	}

	return t
}

// readTree returns the record of the tree, empty if there is none.
func readTree(root *os.Root) (tree, error) {
	data, err := regular.ReadIn(root, treeName, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, nil
	}

	if err != nil {
		return tree{}, errors.Wrap(err, "cannot read the record of the module")
	}

	t := tree{}
	if err := json.Unmarshal(data, &t); err != nil {
		return tree{}, errors.Wrapf(err, "cannot parse the record of the module, %q", treeName)
	}
	// Files that are read here get deleted.
	for _, name := range t.Files {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || reservedPath(name) {
			return tree{}, errors.Errorf("cannot use the record of the module, %q: %q is no file of a module", treeName, name)
		}
	}

	return t, nil
}

func (t tree) write(root *os.Root) error {
	data, err := json.Marshal(t)
	if err != nil {
		return errors.Wrap(err, "cannot encode the record of the module")
	}

	return errors.Wrap(writeFile(root, treeName, data), "cannot write the record of the module")
}
