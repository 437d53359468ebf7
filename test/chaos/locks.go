// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// takenBy says whether a run of the Workspace with the supplied UID has taken a lock on a state. info is the description
// of the lock by the CLI.
func takenBy(uid, state, info string, runs []run) bool {
	var lock struct {
		Who     string    `json:"Who"`
		Created time.Time `json:"Created"`
	}

	if json.Unmarshal([]byte(info), &lock) != nil {
		return false
	}

	_, host, _ := strings.Cut(lock.Who, "@")
	taken := lock.Created.UnixNano()

	return slices.ContainsFunc(runs, func(r run) bool {
		return r.uid == uid && r.state == state && unnumbered(r.instance) == host && r.start <= taken && (r.end == 0 || taken <= r.end)
	})
}
