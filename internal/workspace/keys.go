// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// KeyPrefix begins the keys of the labels and annotations of this provider, on Workspaces, Leases
// and Secrets. On a Workspace only those with which a person accepts something influence what is done: the
// label of a shard says which instance serves the Workspace.
const KeyPrefix = "terraform.crossplane.io/"

// AcceptLostStateAnnotationKey is the annotation on a Workspace with which a person accepts that a
// Terraform state is lost. Its value is the lineage of that state, or LineageUnknown. For an old copy
// of a state the value also has the serials of the state and of the copy, so that it does not accept a later loss.
const AcceptLostStateAnnotationKey = "terraform.crossplane.io/accept-lost-state"

// AcceptTakenOverStateAnnotationKey is the annotation on a Workspace with which a person accepts that it destroys
// resources that it has not created. Its value is the lineage of the state that the Workspace took over.
const AcceptTakenOverStateAnnotationKey = "terraform.crossplane.io/accept-taken-over-state"

// ApprovePlanAnnotationKey is the annotation on a Workspace with which a person approves one plan, or its deletion. Its
// value is the ID in status.atProvider.plan. It has no effect on any other plan, and can stay.
const ApprovePlanAnnotationKey = "terraform.crossplane.io/approve-plan"

// Answer returns the value of an annotation with which a person accepts something. In a manifest it may be a block of
// YAML, which ends with a line feed.
func Answer(ws Workspace, key string) string { return strings.TrimSpace(ws.GetAnnotations()[key]) }

// LineageUnknown stands for the lineage of a state that was made and never read since, or not by this version of the provider.
const LineageUnknown = "unknown"

// ReasonNotServed is the reason of the condition Ready while no running instance serves a Workspace that waits
// for one.
const ReasonNotServed xpv2.ConditionReason = "NotServed"

// Workspaces have these conditions in addition to those of all managed resources.
const (
	// TypeDrifted is true on a Workspace that may not be updated and whose infrastructure differs
	// from the module.
	TypeDrifted xpv2.ConditionType = "Drifted"

	// TypeStalled is true on a Workspace that keeps failing. It is reconciled less often.
	TypeStalled xpv2.ConditionType = "Stalled"

	// TypeOutputsOmitted is true on a Workspace whose status has no room for all outputs.
	TypeOutputsOmitted xpv2.ConditionType = "OutputsOmitted"

	// TypeStateTakenOver is true on a Workspace that has taken over resources that it did not create,
	// and has neither applied a plan of its own since, nor been allowed to destroy them.
	TypeStateTakenOver xpv2.ConditionType = "StateTakenOver"

	// TypeAwaitingApproval is true on a Workspace whose plan, or whose deletion, waits until a person approves it.
	TypeAwaitingApproval xpv2.ConditionType = "AwaitingApproval"
)

// OwnerRefused is the text of the admission plugin OwnerReferencesPermissionEnforcement about an object that is to belong to a
// Workspace. It names neither the verb nor the resource of the right that is missing.
const OwnerRefused = "cannot set blockOwnerDeletion"
