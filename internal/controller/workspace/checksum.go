// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// checksum returns a digest of what people have written in the supplied Workspace, for its status.
// It must not depend on values of Secrets: a person who may read the Workspace could try all values
// of a short Secret.
func checksum(ws workspace.Workspace) string {
	return workdir.Digest(nil, schedule.Desired(ws), workdir.Encode(ws.GetParameters()))
}
