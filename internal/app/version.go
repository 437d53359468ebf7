// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"runtime/debug"
)

// Version returns the version of this program as the Go toolchain recorded it: the version of the
// module, the commit, and the toolchain.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "provider-terraform (unknown version)"
	}

	revision, modified := "", ""

	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = ", commit " + s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = ", modified"
			}
		}
	}

	return fmt.Sprintf("provider-terraform %s (%s%s%s)", info.Main.Version, info.GoVersion, revision, modified)
}
