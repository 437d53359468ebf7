// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

// KeyPrefix begins the keys of the labels and annotations of this provider. All of them except
// AcceptLostStateAnnotationKey say which instance serves a Workspace and do not influence the
// plan.
const KeyPrefix = "terraform.crossplane.io/"

// AcceptLostStateAnnotationKey is the annotation on a Workspace with which a person
// accepts that a Terraform state is lost. Its value is the lineage of that state, or
// LineageUnknown. For an old copy of a state the value also has the serial that the state
// had, so that it does not accept a later loss. The keys that sharding needs are in
// internal/shard.
const AcceptLostStateAnnotationKey = "terraform.crossplane.io/accept-lost-state"

// LineageUnknown stands for the lineage of a state that was made and never read since.
const LineageUnknown = "unknown"
