// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkspaceObservation is the result of the last successful observation of a Workspace.
type WorkspaceObservation struct {
	// Outputs of the module, as JSON values of any type. Outputs that are marked
	// sensitive are only in the connection Secret. The API server rounds a number
	// that is not a 64-bit integer to a 64-bit float. The condition OutputsOmitted
	// names the outputs that are missing because they are too large.
	// +optional
	Outputs map[string]extv1.JSON `json:"outputs,omitempty"`

	// Checksum of the specification, labels and annotations, as they were when the
	// Workspace was last found up to date. It does not depend on the values of
	// Secrets. It is opaque: it can only be compared with another checksum.
	// +optional
	Checksum string `json:"checksum,omitempty"`

	// RemoteSource is the address that the module was last fetched from.
	// +optional
	RemoteSource string `json:"remoteSource,omitempty"`

	// LastPlanTime is the time of the plan whose result this status has. A later
	// plan with the same result does not change it: that would be a write at each
	// poll.
	// +optional
	LastPlanTime *metav1.Time `json:"lastPlanTime,omitempty"`

	// Plan summarizes the changes that the last observation found. It is absent if
	// there are none.
	// +optional
	Plan *PlanSummary `json:"plan,omitempty"`

	// Warnings of the last plan and of its apply, such as those of failed checks:
	// the first five, and how many more there are.
	// +optional
	Warnings []string `json:"warnings,omitempty"`

	// State is the last observed Terraform state. It makes it possible to detect a
	// lost state before everything is created a second time.
	// +optional
	State *StateSummary `json:"state,omitempty"`
}

// StateSummary identifies a Terraform state.
type StateSummary struct {
	// Lineage of the state: it stays the same as long as the state exists. It is
	// absent between the first apply and the next observation.
	// +optional
	Lineage string `json:"lineage,omitempty"`

	// Serial of the state: it grows with every change.
	// +optional
	Serial int64 `json:"serial,omitempty"`

	// Resources is the number of resources in the state, without data sources.
	// +optional
	Resources int `json:"resources"`
}

// PlanSummary counts the changes that would make the infrastructure match the
// module.
type PlanSummary struct {
	// Add is the number of resources to create.
	// +optional
	Add int `json:"add"`

	// Change is the number of resources to change in place.
	// +optional
	Change int `json:"change"`

	// Destroy is the number of resources to destroy.
	// +optional
	Destroy int `json:"destroy"`

	// Import is the number of resources to import.
	// +optional
	Import int `json:"import,omitempty"`

	// Summary has these numbers for a column of kubectl, without those of imports:
	// +1 ~0 -2.
	// +optional
	Summary string `json:"summary,omitempty"`

	// ResourceChanges are actions and addresses, such as "replace aws_vpc.main": the
	// first 20, those that delete something first, and how many more there are.
	// +optional
	ResourceChanges []string `json:"resourceChanges,omitempty"`

	// OutputChanges are the names of outputs that change: the first ones, if there
	// are many.
	// +optional
	OutputChanges []string `json:"outputChanges,omitempty"`

	// ID identifies a plan, or a deletion, that waits for approval: it is the value of
	// the annotation terraform.crossplane.io/approve-plan that approves it. It depends
	// on what would be done and on the state, not on the revision of the module.
	// +optional
	ID string `json:"id,omitempty"`

	// Destroyed are addresses of resources that a plan that waits for approval deletes
	// or replaces: the first 50.
	// +optional
	Destroyed []string `json:"destroyed,omitempty"`

	// Secret has the namespace and the name of the Secret with the text of a plan that
	// waits for approval. It may contain secrets.
	// +optional
	Secret string `json:"secret,omitempty"`

	// Drifted are addresses of resources that were changed outside of Terraform:
	// the first ones, if there are many.
	// +optional
	Drifted []string `json:"drifted,omitempty"`
}
