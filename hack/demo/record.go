// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Files of a recorded run.
const (
	recordFile  = "elastic.json"
	pictureFile = "elastic.svg"
)

// A record is what was seen of the elastic story, as elastic.json has it.
type record struct {
	Date  time.Time `json:"date"`
	CLI   string    `json:"cli"`
	Steps []step    `json:"steps"`
}

// A step is something that happened, and how the Workspaces were served afterwards: all of them
// were Ready, on the shards that they were assigned to.
type step struct {
	What string `json:"what"`

	// Seconds until then.
	Seconds float64 `json:"seconds"`

	// ServedBy has the instance of each Workspace.
	ServedBy map[string]string `json:"servedBy"`
}

// add a step.
func (r *record) add(what string, took time.Duration, seen map[string]sight) {
	s := step{What: what, Seconds: took.Round(100 * time.Millisecond).Seconds(), ServedBy: map[string]string{}}

	for name, w := range seen {
		s.ServedBy[name] = w.servedBy
	}

	r.Steps = append(r.Steps, s)
}

// readRecord reads the record in the supplied directory.
func readRecord(dir string) (*record, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordFile)) //nolint:gosec // The user names the directory.
	if err != nil {
		return nil, err
	}

	r := &record{}

	return r, errors.Wrapf(json.Unmarshal(data, r), "cannot read %s", recordFile)
}

// publish writes the record and its picture into the supplied directory.
func (r *record) publish(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return errors.Wrap(err, "cannot marshal the record")
	}

	return errors.Join(save(dir, recordFile, string(data)+"\n"), save(dir, pictureFile, r.draw()))
}

// save a file of the documentation, which everyone may read.
func save(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) //nolint:gosec // See above. The user names the directory.
}
