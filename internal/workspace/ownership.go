// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A state is identified by its lineage and belongs to one Workspace. The rules here find that
// Workspace from the statuses of all Workspaces. They read no annotation that the provider
// writes: copies, restored backups and GitOps tools write annotations, but no status.

// Owns says whether a Workspace has a state of its own: it created one, took one over, or was
// reconciled with one by a version of the provider that recorded no ownership. An observation of
// a state is not enough.
func Owns(ws Workspace) bool {
	o := ws.GetOwnership()

	return o.Lineage != "" || o.CreationSucceeded != nil || (hasResult(ws) && !OnlyObserves(ws))
}

// IsStateless says whether no state of the Workspace can exist yet: it has observed none, and has
// never begun to make one.
func IsStateless(ws Workspace) bool {
	return recordsNothing(ws) && !hasResult(ws) && !beganBefore(ws)
}

// IsBlank says whether nothing was ever applied to a state without resources and outputs. Some
// backends make such a state when they are read. Every apply and every destroy raises the serial.
func IsBlank(s commonv1beta1.StateSummary) bool { return s.Resources == 0 && s.Serial <= 1 }

// A StateOwnership says how strongly, according to its status, a Workspace owns a state. Greater
// values take precedence.
type StateOwnership int

const (
	// OwnershipNone means that the Workspace does not own the state.
	OwnershipNone StateOwnership = iota

	// OwnershipPossible means that an older version of the provider reconciled the Workspace and
	// recorded no lineage. The state may be its own.
	OwnershipPossible

	// OwnershipBegun means that the Workspace has begun to create the resources in the state, or
	// to take them over, and has not recorded the end.
	OwnershipBegun

	// OwnershipRemembered means that the Workspace was reconciled with the state, but has
	// not recorded it as its own yet.
	OwnershipRemembered

	// OwnershipRecorded means that the Workspace has recorded the state as its own.
	OwnershipRecorded
)

// ownershipOf says how strongly a Workspace owns the state with the supplied lineage in the
// Terraform workspace of the supplied name.
func ownershipOf(ws Workspace, lineage, name string) StateOwnership {
	own, seen, known := ws.GetOwnership(), ws.GetObservation().State, Remembered(ws).Lineage

	switch {
	case own.Lineage == lineage:
		return OwnershipRecorded
	case own.Lineage != "" || (known != "" && known != lineage):
		return OwnershipNone
	case known == "" && TerraformWorkspace(ws) != name:
		return OwnershipNone
	case known == lineage && wasReconciled(ws) && !IsBlank(*seen):
		return OwnershipRemembered
	case own.CreationStarted != nil:
		return OwnershipBegun
	// The last version of the provider that did something for the Workspace recorded no state.
	case seen == nil && wasReconciled(ws):
		return OwnershipPossible
	default:
		return OwnershipNone
	}
}

// MayWorkOn says whether a Workspace may be working on the state with the supplied lineage in the
// Terraform workspace of the supplied name. The lineage is empty if the state was not written
// yet.
func MayWorkOn(ws Workspace, lineage, name string) bool {
	if lineage != "" {
		return ownershipOf(ws, lineage, name) >= OwnershipBegun
	}

	return HasBegun(ws) && ws.GetOwnership().Lineage == "" && TerraformWorkspace(ws) == name
}

func wasReconciled(ws Workspace) bool {
	return hasResult(ws) && (!OnlyObserves(ws) || HasBegun(ws))
}

// OwnershipOfFound says how strongly a Workspace owns the state with the supplied lineage that it
// finds. One that an older version of the provider has reconciled owns what it finds.
func OwnershipOfFound(ws Workspace, lineage string) StateOwnership {
	t := ownershipOf(ws, lineage, TerraformWorkspace(ws))
	if t == OwnershipPossible {
		return OwnershipRemembered
	}

	return t
}

// HasBegun says whether a Workspace has begun to create infrastructure, or to take over existing
// infrastructure.
func HasBegun(ws Workspace) bool { return ws.GetOwnership().CreationStarted != nil }

// Knows says whether the state with the supplied lineage may be that of a Workspace: it is the
// last observed state, or none was observed.
func Knows(ws Workspace, lineage string) bool {
	known := cmp.Or(Remembered(ws).Lineage, ws.GetOwnership().Lineage)

	return known == "" || known == lineage
}

// TerraformWorkspace returns the name of the Terraform workspace of a Workspace.
func TerraformWorkspace(o client.Object) string {
	return cmp.Or(meta.GetExternalName(o), o.GetName())
}

// Begin records in the status of the Workspace that it takes over the supplied state, which is
// not empty. If nothing that the Workspace has done may have created the resources in the state, it
// records that, too: see AcceptsDestroy.
func Begin(ws Workspace, s commonv1beta1.StateSummary, now time.Time) {
	others := OwnershipOfFound(ws, s.Lineage) == OwnershipNone

	SetState(ws, &s)
	changeOwnership(ws, func(own *commonv1beta1.Ownership) {
		dropOther(own, s.Lineage)

		if own.CreationStarted == nil {
			own.CreationStarted = seconds(now)
		}

		switch {
		case others && s.Resources > 0:
			own.TakenOverAt = seconds(now)
		case others:
			own.TakenOverAt = nil
		}
	})
}

// AcceptsDestroy says whether a Workspace may destroy what is in its state, which has the supplied lineage. If the
// Workspace has taken over these resources and applied nothing since, a person has to accept that: they may be in
// use elsewhere, and the Workspace may have found them because of a name that is not unique.
func AcceptsDestroy(ws Workspace, lineage string) bool {
	accepted := Answer(ws, AcceptTakenOverStateAnnotationKey)

	return ws.GetOwnership().TakenOverAt == nil || (accepted != "" && accepted == lineage)
}

// AllowDestroy records in the status of a Workspace that it may destroy what it has taken over.
func AllowDestroy(ws Workspace) {
	changeOwnership(ws, func(own *commonv1beta1.Ownership) { own.TakenOverAt = nil })
}

// BeginCreation records in the status of the Workspace that it creates its infrastructure, from
// the supplied empty state.
func BeginCreation(ws Workspace, s commonv1beta1.StateSummary, now time.Time) {
	SetState(ws, &s)
	changeOwnership(ws, func(own *commonv1beta1.Ownership) {
		dropOther(own, s.Lineage)

		own.CreationStarted, own.CreationSucceeded, own.TakenOverAt = seconds(now), nil, nil
	})
}

// Own records in the status of the Workspace that the state with the supplied lineage belongs to it.
func Own(ws Workspace, lineage string) {
	changeOwnership(ws, func(own *commonv1beta1.Ownership) { own.Lineage = lineage })
}

// Succeed records in the status of the Workspace, if it has begun a creation, that the creation
// is complete.
func Succeed(ws Workspace, now time.Time) {
	changeOwnership(ws, func(own *commonv1beta1.Ownership) {
		if own.CreationStarted != nil && own.CreationSucceeded == nil {
			own.CreationSucceeded = seconds(now)
		}
	})
}

// Restore sets the state and the creation in the ownership of the Workspace to earlier values.
func Restore(ws Workspace, before commonv1beta1.Ownership) {
	changeOwnership(ws, func(own *commonv1beta1.Ownership) {
		own.Lineage, own.CreationStarted, own.CreationSucceeded = before.Lineage, before.CreationStarted, before.CreationSucceeded
		own.TakenOverAt = before.TakenOverAt
	})
}

// GiveUp removes the record that the Workspace has begun to create, or to take over, the
// resources in the state with the supplied lineage. It says whether there was such a record. The
// Workspace does not remember that state any more: otherwise it would take it for lost when it
// gets a backend of its own.
func GiveUp(ws Workspace, lineage string) bool {
	own := ws.GetOwnership()
	if own.CreationStarted == nil || own.CreationSucceeded != nil || own.Lineage != "" || Remembered(ws).Lineage != lineage {
		return false
	}

	Restore(ws, commonv1beta1.Ownership{})
	SetState(ws, nil)

	// With the checksum, it would seem that a version which recorded no state had written the status last: see ownershipOf.
	if !isLegacyChecksum(ws.GetObservation().Checksum) {
		SetState(ws, &commonv1beta1.StateSummary{})
	}

	return true
}

func changeOwnership(ws Workspace, change func(own *commonv1beta1.Ownership)) {
	own := ws.GetOwnership()
	change(&own)
	ws.SetOwnership(own)
}

func dropOther(own *commonv1beta1.Ownership, lineage string) {
	if own.Lineage != lineage {
		own.Lineage = ""
	}
}

// SetState sets the last known state in the status of a Workspace. It is nil if none is known.
func SetState(ws Workspace, s *commonv1beta1.StateSummary) {
	o := ws.GetObservation()
	o.State = s
	ws.SetObservation(o)
}

// seconds returns a time as the API server keeps it.
func seconds(t time.Time) *metav1.Time { return &metav1.Time{Time: t.Truncate(time.Second)} }
