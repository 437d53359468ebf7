// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// The conditions that Workspaces have beside those of all managed resources.
const (
	// TypeDrifted is true on a Workspace that may not be updated when the infrastructure is
	// not what the module asks for.
	TypeDrifted xpv2.ConditionType = "Drifted"

	// TypeStalled is true on a Workspace that keeps failing, and is tried less often than
	// others.
	TypeStalled xpv2.ConditionType = "Stalled"
)
