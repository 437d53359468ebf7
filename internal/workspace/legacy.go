// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/hex"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// This file recognizes what a version of the provider has left in a status that recorded neither states nor their owners. It removes these
// from the status that this version has written, also if it does nothing else. A checksum of this version stays until it plans.

// hasResult says whether a plan or an apply has succeeded, also one of a version of the provider that recorded no state: it wrote a checksum
// after a plan, and left it out after an update, until the next plan.
func hasResult(ws Workspace) bool {
	return ws.GetObservation().Checksum != "" || recordsNothing(ws) && ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable
}

// beganBefore says whether such a version has begun to create the infrastructure, and did not record the end. Its managed reconciler
// refuses to go on then, with this text. That of this version goes on, and does not write it. It may have created nothing, so that it owns
// nothing either.
func beganBefore(ws Workspace) bool {
	return recordsNothing(ws) && ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonCreating &&
		strings.HasPrefix(ws.GetCondition(xpv2.TypeSynced).Message, "cannot determine creation result")
}

func recordsNothing(ws Workspace) bool {
	own, seen := ws.GetOwnership(), ws.GetObservation()

	return own.Lineage == "" && own.CreationStarted == nil && seen.State == nil && seen.Checksum == ""
}

// availableChecksum says that such a version has left the Workspace Available, and disownedChecksum that the state belongs to another
// Workspace. They have the length of an MD5, but are none.
const (
	availableChecksum = "00000000000000000000000000000000"
	disownedChecksum  = "ffffffffffffffffffffffffffffffff"
)

// RecordAvailable records in the checksum that such a version has left the Workspace Available: the condition Ready changes.
func RecordAvailable(ws Workspace) { markAvailable(ws, availableChecksum) }

// HasOnlyObserved says whether such a version has only observed the state that was found, as far as the status and the annotations tell. With
// the state that this version records, its checksum would make the Workspace the owner as soon as its policies allow more. Where nothing is
// found, the checksum still tells that something was.
func HasOnlyObserved(ws Workspace, found *commonv1beta1.StateSummary) bool {
	if found == nil || IsBlank(*found) {
		return false
	}

	own, seen := ws.GetOwnership(), ws.GetObservation()

	return OnlyObserves(ws) && own.Lineage == "" && own.CreationStarted == nil && (seen.State == nil || isLegacyChecksum(seen.Checksum)) && !hasCreated(ws)
}

// hasCreated says whether any version has begun to create the infrastructure, as far as the annotations tell.
func hasCreated(ws Workspace) bool {
	return !meta.GetExternalCreatePending(ws).IsZero() || !meta.GetExternalCreateSucceeded(ws).IsZero() || !meta.GetExternalCreateFailed(ws).IsZero()
}

// Disown records in the checksum that the state which such a version had found belongs to another Workspace. It is no loss if this one gets
// a state of its own.
func Disown(ws Workspace) { markAvailable(ws, disownedChecksum) }

func markAvailable(ws Workspace, checksum string) {
	if wasAvailable(ws) {
		o := ws.GetObservation()
		o.Checksum = checksum
		ws.SetObservation(o)
	}
}

// wasAvailable says whether such a version has left the Workspace Available, for which it had found resources or outputs in a state that
// belongs to no other Workspace.
func wasAvailable(ws Workspace) bool {
	own, seen := ws.GetOwnership(), ws.GetObservation()

	switch {
	// This version has left a Workspace Available also without a state, if its module has nothing to create.
	case own.Lineage != "" || own.CreationStarted != nil || !isLegacyChecksum(seen.Checksum) && !hasCreated(ws):
		return false
	// This version, too, leaves out the checksum if it only observes, and does not find the state any more.
	case seen.State != nil:
		return IsBlank(*seen.State) && seen.Checksum == availableChecksum
	default:
		return seen.Checksum == availableChecksum || seen.Checksum != disownedChecksum && ws.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable
	}
}

// isLegacyChecksum says whether a version of the provider that recorded no state has written the
// checksum, which was an MD5, or has left it out.
func isLegacyChecksum(s string) bool {
	b, err := hex.DecodeString(s)

	return s == "" || err == nil && len(b) == 16
}
