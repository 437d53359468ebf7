// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"fmt"
	"io"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A plan file is a zip with two states in it, both in the format of a state file. The state as
// read has the recorded resources and outputs, but never a lineage and a serial. The refreshed
// state has these, but its outputs are those of the current configuration.
const (
	entryRead      = "tfstate-prev"
	entryRefreshed = "tfstate"
)

// readPlanFile returns the state that the plan was made from. It returns nil if that cannot be
// read for any reason: the format is not a documented interface.
func readPlanFile(path string) *State {
	// A program that the module runs during the plan can replace the file.
	f, err := regular.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	info, err := f.Stat()
	if err != nil {
		return nil
	}

	r, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil
	}

	return planState(r)
}

func planState(r *zip.Reader) *State {
	read, err := stateEntry(r, entryRead)
	if err != nil {
		return nil
	}

	refreshed, err := stateEntry(r, entryRefreshed)
	if err != nil {
		return nil
	}

	read.Lineage, read.Serial = refreshed.Lineage, refreshed.Serial

	return read
}

func stateEntry(r *zip.Reader, name string) (*State, error) {
	f, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	raw, err := io.ReadAll(io.LimitReader(f, maxAnswer+1))
	if err != nil {
		return nil, err
	}

	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("%q is longer than %d bytes", name, maxAnswer)
	}

	return ParseState(raw)
}
