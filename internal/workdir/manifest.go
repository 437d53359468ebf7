// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A manifest lists, by name, the inputs that Sync wrote.
type manifest map[string]entry

type entry struct {
	Secret bool `json:"secret,omitempty"`
}

// readManifest returns the manifest of the directory, empty if it has none.
func readManifest(root *os.Root) (manifest, error) {
	m := manifest{}

	data, err := regular.ReadIn(root, manifestName, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}

	if err != nil {
		return nil, errors.Wrap(err, "cannot read the list of files written earlier")
	}

	if err := json.Unmarshal(data, &m); err != nil {
		return nil, errors.Wrapf(err, "cannot parse the list of files written earlier, %q", manifestName)
	}
	// Files that are read here get deleted.
	for name := range m {
		if err := checkName(name); err != nil {
			return nil, errors.Wrapf(err, "cannot use the list of files written earlier, %q", manifestName)
		}
	}

	return m, nil
}

// newManifest returns one that lists the files, and more that are secret.
func newManifest(files map[string]File, secret ...string) manifest {
	m := make(manifest, len(files)+len(secret))
	for name, f := range files {
		m[name] = entry{Secret: f.Secret}
	}

	for _, name := range secret {
		m[name] = entry{Secret: true}
	}

	return m
}

// write the manifest, unless it is the one that is there.
func (m manifest) write(root *os.Root, there manifest) error {
	if maps.Equal(m, there) {
		return nil
	}

	data, err := json.Marshal(m)
	if err != nil {
		return errors.Wrap(err, "cannot encode the list of files")
	}

	return errors.Wrap(writeFile(root, manifestName, data), "cannot write the list of files")
}
