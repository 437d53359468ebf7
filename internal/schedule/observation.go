// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// An Observation is the result of the last successful run of the CLI for a Workspace.
type Observation struct {
	// At is when the run ended. It is zero if there was none.
	At time.Time

	// Desired is the digest of what people had written in the Workspace at that time: see Facts.
	Desired string

	// Exists says that the state is not empty, or that the module has no resources.
	Exists bool

	// UpToDate says that the state and the module agree.
	UpToDate bool

	// Deleted says that the Terraform workspace was deleted.
	Deleted bool

	// Locked says that the state was locked. The holder may turn out to be dead.
	Locked bool

	// Source is the address that the module was fetched from.
	Source string

	// Plan is the summary of the changes, or nil if there are none.
	Plan *commonv1beta1.PlanSummary

	// Outputs in the state, sensitive ones included.
	Outputs map[string]terraform.Output

	// CreatedLineage is the lineage of a state that the first apply of the Workspace made.
	CreatedLineage string

	// State is the summary of the state, for the status.
	State *commonv1beta1.StateSummary
}

// settled says that nothing is to be done until something changes: the infrastructure matches the
// module, or may not be changed.
func (o Observation) settled(f Facts) bool { return o.UpToDate || o.Exists && !f.MayUpdate }

// reported says whether the conditions of a Workspace show the observation.
func (o Observation) reported(f Facts) bool {
	if o.UpToDate {
		return f.Ready && f.Current
	}

	return f.MayUpdate || !o.Exists || f.Drifted
}
