// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

// Label and annotation keys of this product. They are API: people and
// Compositions write them, dashboards select by them, so they never change.
const (
	// LabelKey is the label on a Workspace that names the shard it belongs to.
	// Whoever writes it (a person, a Composition) decides which instance serves
	// the Workspace. A Workspace without it belongs to no shard.
	LabelKey = "terraform.crossplane.io/shard"

	// HoldersAnnotationKey is the annotation on the Lease of an instance that names the
	// identities of those who held it, separated by commas, the latest first. Instances
	// write it.
	HoldersAnnotationKey = "terraform.crossplane.io/holders"

	// ReleasedAnnotationKey is the annotation on the Lease of an instance that names the
	// identity of who released it, when it had no run left. Instances write it, and remove
	// it when they take the Lease. An empty Lease without it was emptied by somebody else.
	ReleasedAnnotationKey = "terraform.crossplane.io/released-by"
)
