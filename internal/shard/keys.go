// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

// These label and annotation keys are API: people and Compositions write them, and dashboards
// select by them. They never change.
const (
	// LabelKey is the label on a Workspace that names the shard it belongs to. A person, a
	// Composition or an assigner writes it, and so decides which instance serves the Workspace. A
	// Workspace without it belongs to no shard.
	LabelKey = "terraform.crossplane.io/shard"

	// AssignedLabelKey is the label on a Workspace with the shard that an assigner has chosen for
	// it. The assigner may change its choice only while both labels have the same value. If a person
	// or a Composition writes another value to LabelKey, the assigner does not change that value.
	AssignedLabelKey = "terraform.crossplane.io/assigned-shard"

	// AssignableLabelKey is the label on the Lease of a shard that Workspaces without a label may be
	// assigned to. Its value is "true". Other shards get only Workspaces that a person or a
	// Composition has labelled, because they may have the credentials of one tenant.
	AssignableLabelKey = "terraform.crossplane.io/assignable"

	// HoldersAnnotationKey is the annotation on the Lease of an instance with the identities of its
	// last holders, ten at most, separated by commas, the latest first. Instances write it.
	HoldersAnnotationKey = "terraform.crossplane.io/holders"

	// ReleasedAnnotationKey is the annotation on the Lease of an instance with the identity of the
	// holder that released it when it had no run left. Instances write it, and remove it when they
	// take the Lease. An empty Lease without this annotation was not emptied by its holder.
	ReleasedAnnotationKey = "terraform.crossplane.io/released-by"
)
