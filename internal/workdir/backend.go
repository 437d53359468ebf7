// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A Backend is the backend that init has configured, or zero without one.
type Backend struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"`
}

// ReadBackend returns the backend according to the record of init in dir, a directory in root. The module
// controls the contents of that directory.
func ReadBackend(root *os.Root, dir string) (Backend, error) {
	record := struct {
		Backend Backend `json:"backend"`
	}{}

	// Real records are smaller.
	data, err := regular.ReadIn(root, path.Join(dir, dataDir, localName), regular.MiB)
	if errors.Is(err, fs.ErrNotExist) {
		return Backend{}, nil
	}

	if err != nil {
		return Backend{}, err
	}

	if err := json.Unmarshal(data, &record); err != nil {
		return Backend{}, fmt.Errorf("cannot parse the record of the backend: %w", err)
	}

	return record.Backend, nil
}
