// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A Found is the state that was found in the place of the state of a Workspace.
type Found struct {
	commonv1beta1.StateSummary

	// Empty says that it has neither resources nor outputs.
	Empty bool

	// OtherDisk says that the state is on a disk, and that the Workspace began to create its
	// infrastructure on another disk.
	OtherDisk bool
}

// Remembered returns the last known state of a Workspace. It is the zero value if none is known.
func Remembered(ws Workspace) commonv1beta1.StateSummary {
	if s := ws.GetObservation().State; s != nil {
		return *s
	}

	return commonv1beta1.StateSummary{}
}

// Lost describes a difference between the found and the remembered state which means that the
// latter was lost, and returns the value of AcceptLostStateAnnotationKey with which a person accepts
// the loss. Both are empty if nothing was lost, or the loss is accepted.
//
// An accepted loss has no effect on later ones: a new state has a new lineage, and an old copy, which keeps the lineage, gets
// other serials from then on. Only the same copy, if it is restored once more, may have the same answer.
func Lost(ws Workspace, found Found) (reason, loss string) {
	had := expected(ws, found)

	// Without resources, nothing could be created twice.
	if had.Resources == 0 {
		return "", ""
	}

	reason = lost(had, found)
	if reason == "" {
		return "", ""
	}

	loss = cmp.Or(had.Lineage, LineageUnknown)
	if found.Lineage == had.Lineage && found.Lineage != "" {
		loss = fmt.Sprintf("%s/%d/%d", loss, had.Serial, found.Serial)
	}

	if Answer(ws, AcceptLostStateAnnotationKey) == loss {
		return "", ""
	}

	return reason, loss
}

// expected returns the remembered state, with unknownResources if it may have some that were not recorded.
func expected(ws Workspace, found Found) commonv1beta1.StateSummary {
	own, had := ws.GetOwnership(), Remembered(ws)

	// Its creation began on another disk, or in another place, and the end of the creation was not recorded: the state
	// there may have resources. In another place, an apply that has failed there is no reason to keep a wrong backend: the
	// annotations of the managed reconciler tell whether its end is known. They count only beside the status: see Owns.
	// A backend that makes no state before the first apply has no lineage: nothing tells its places apart.
	elsewhere := found.OtherDisk || had.Lineage != "" && found.Lineage != had.Lineage && meta.ExternalCreateIncomplete(ws)
	if elsewhere && own.CreationStarted != nil && own.CreationSucceeded == nil && had.Resources == 0 {
		had.Resources = unknownResources
	}

	// A state that was emptied by hand has a later serial. Without the right to create, a Workspace is Available also without a state.
	if wasAvailable(ws) && (MayCreate(ws) || meta.WasDeleted(ws)) && found.Empty && IsBlank(found.StateSummary) {
		return commonv1beta1.StateSummary{Resources: unknownResources}
	}

	return had
}

func lost(had commonv1beta1.StateSummary, found Found) string {
	switch {
	case found.Lineage == "":
		return "is gone: expected " + describeState(had) + ", found none"
	case had.Lineage == "" && found.Empty:
		// Some backends make a new state when they are read.
		return "is empty: expected " + describeState(had)
	case had.Lineage != "" && found.Lineage != had.Lineage && found.Empty:
		// So it is if the state was deleted, and if the backend is another one.
		return fmt.Sprintf("is empty, and is another one: expected %s, found lineage %s", describeState(had), found.Lineage)
	case had.Lineage != "" && found.Lineage != had.Lineage:
		return fmt.Sprintf("is another one: expected %s, found %s", describeState(had), describeState(found.StateSummary))
	case found.Serial < had.Serial:
		return fmt.Sprintf("is an old copy: expected serial %d or later of lineage %s, found serial %d", had.Serial, had.Lineage, found.Serial)
	// An apply that adds resources raises the serial, and so does "state push" with a copy from before that apply. The status
	// may also have the serial from before an apply, with the number of resources from after it. A copy with more resources
	// than remembered does no harm: a plan finds that they do not exist.
	case found.Lineage == had.Lineage && found.Serial == had.Serial && found.Resources < had.Resources:
		return fmt.Sprintf("is an old copy: expected %s at serial %d or later of lineage %s, found %s at serial %d", Resources(had.Resources), had.Serial, had.Lineage, Resources(found.Resources), found.Serial)
	default:
		return ""
	}
}

// unknownResources is the number of resources that an interrupted first apply may have created, or that a version of the provider that
// recorded no state has found.
const unknownResources = -1

func describeState(s commonv1beta1.StateSummary) string {
	switch {
	case s.Lineage == "":
		return "the one that it was created with"
	case s.Resources == unknownResources:
		return fmt.Sprintf("lineage %s, whose first apply was interrupted", s.Lineage)
	default:
		return fmt.Sprintf("lineage %s (serial %d, %s)", s.Lineage, s.Serial, Resources(s.Resources))
	}
}

// Resources returns a number of resources for messages.
func Resources(n int) string {
	if n == 1 {
		return "1 resource"
	}

	return fmt.Sprintf("%d resources", n)
}
