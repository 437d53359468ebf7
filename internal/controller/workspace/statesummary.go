// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// summarizeState returns the summary of a state for the status.
func summarizeState(s *terraform.State) commonv1beta1.StateSummary {
	return commonv1beta1.StateSummary{Lineage: s.Lineage, Serial: serial(s), Resources: s.Managed}
}

// applied returns the summary of a state after an apply, with the number of resources that it has
// now. The next observation corrects the rest.
func applied(state commonv1beta1.StateSummary, s terraform.Summary) commonv1beta1.StateSummary {
	state.Resources = max(state.Resources+s.Add+s.Import-s.Destroy, 0)

	return state
}

// serial returns the serial of a state as the API has it. It never gets near the limit.
func serial(s *terraform.State) int64 { return int64(s.Serial) } //nolint:gosec // See above.

// isBlank says whether nothing was ever applied to a state.
func isBlank(s *terraform.State) bool {
	return s.Empty() && workspace.IsBlank(summarizeState(s))
}
