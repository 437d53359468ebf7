// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Workspaces have these conditions in addition to those of all managed resources.
const (
	// TypeDrifted is true on a Workspace that may not be updated and whose infrastructure differs
	// from the module.
	TypeDrifted xpv2.ConditionType = "Drifted"

	// TypeStalled is true on a Workspace that keeps failing. It is reconciled less often than
	// others.
	TypeStalled xpv2.ConditionType = "Stalled"

	// TypeOutputsOmitted is true on a Workspace whose status has no room for all outputs.
	TypeOutputsOmitted xpv2.ConditionType = "OutputsOmitted"
)
