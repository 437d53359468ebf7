// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Actions of a module on a resource. The provisioners of the module record them.
const (
	creating   = "creating"
	created    = "created"
	destroying = "destroying"
)

// An entry is a line of the ledger: one action of a module on one resource.
type entry struct {
	// time in nanoseconds since 1970.
	time int64

	// action.
	what string

	// id of the resource: another one for each that is ever created.
	id string

	// pid of the run, and the UID of the Workspace that it was for.
	pid int
	uid string
}

// readLedger reads the ledger in the file of the supplied name. A missing file has no
// entries.
func readLedger(name string) ([]entry, error) {
	data, err := os.ReadFile(name) //nolint:gosec // The test has made it.
	if err != nil && !os.IsNotExist(err) {
		return nil, errors.Wrap(err, "cannot read ledger")
	}

	var entries []entry

	for line := range bytes.Lines(data) {
		e, err := parseEntry(string(line))
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read ledger: %q", line)
		}

		entries = append(entries, e)
	}

	return entries, nil
}

func parseEntry(line string) (entry, error) {
	f := strings.Fields(line)
	if len(f) != 6 {
		return entry{}, errors.Errorf("has %d fields, want 6", len(f))
	}

	time, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil {
		return entry{}, err
	}

	pid, err := strconv.Atoi(f[4])

	// The name of the Workspace, f[2], is for people.
	return entry{time: time, what: f[1], id: f[3], pid: pid, uid: f[5]}, err
}
