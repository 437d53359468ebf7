// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

// KeyPrefix begins the keys of the labels and annotations of this provider, on Workspaces, Leases
// and Secrets. On a Workspace only AcceptLostStateAnnotationKey influences the plan: the label of
// a shard says which instance serves the Workspace.
const KeyPrefix = "terraform.crossplane.io/"

// AcceptLostStateAnnotationKey is the annotation on a Workspace with which a person
// accepts that a Terraform state is lost. Its value is the lineage of that state, or
// LineageUnknown. For an old copy of a state the value also has the serial that the state
// had, so that it does not accept a later loss. The keys that sharding needs are in
// internal/shard.
const AcceptLostStateAnnotationKey = "terraform.crossplane.io/accept-lost-state"

// LineageUnknown stands for the lineage of a state that was made and never read since.
const LineageUnknown = "unknown"
