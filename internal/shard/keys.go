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

	// AssignableLabelKey is the label on the Lease of a session whose shard Workspaces without a label
	// may be assigned to. Its value is "true". Other shards get only Workspaces that a person or a
	// Composition has labelled, because they may have the credentials of one tenant.
	AssignableLabelKey = "terraform.crossplane.io/assignable"

	// InstanceLabelKey is the label on the Lease of a session with the Instance of its process.
	InstanceLabelKey = "terraform.crossplane.io/instance"

	// SessionAnnotationKey is the annotation on the Lease of the leader election with the name of the
	// session that was last elected and began to work.
	SessionAnnotationKey = "terraform.crossplane.io/session"

	// LongestAnnotationKey is the annotation beside it with the longest duration of that session, in seconds.
	LongestAnnotationKey = "terraform.crossplane.io/session-longest-seconds"

	// ReleasedAnnotationKey is the annotation on the Lease of a session that has ended, with the
	// identity of its holder. Such a Lease has no holder. A Lease without a holder and without this
	// annotation was emptied by a person.
	ReleasedAnnotationKey = "terraform.crossplane.io/released-by"
)
