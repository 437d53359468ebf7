// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// lostState returns an error if the state that was found is not that of the
// Workspace.
func (e *external) lostState(ws workspace.Workspace, found *terraform.State) error {
	// To look at another one does no harm either.
	if onlyObserves(ws) {
		return nil
	}

	return lostState(ws, found, mayHaveBackend(ws.GetParameters(), e.config))
}

// mayHaveBackend says whether state may be kept elsewhere than on disk. What a fetched
// module says is not known here.
func mayHaveBackend(p commonv1beta1.WorkspaceParameters, pc commonv1beta1.ProviderConfigSpec) bool {
	return p.Source != commonv1beta1.ModuleSourceInline || backendOf(p, pc) != ""
}

// lostState returns an error if the state that was found is not the one that the
// Workspace had, and nobody has accepted that. To go on would create everything
// that was in it a second time, or change what belongs to somebody else.
func lostState(ws workspace.Workspace, found *terraform.State, backend bool) error {
	had := remembered(ws)

	reason := lost(had, found)
	if reason == "" {
		return nil
	}

	loss := lossOf(had, found)
	if ws.GetAnnotations()[workspace.AcceptLostStateAnnotationKey] == loss {
		return nil
	}

	where := ""
	if !backend {
		where = " The module has no backend: its state was on the disk of the instance that served the Workspace before."
	}

	return errors.Errorf("the state of Terraform workspace %q %s.%s Nothing was changed. Bring the state back, or accept what is there now with the annotation %s=%s",
		meta.GetExternalName(ws), reason, where, workspace.AcceptLostStateAnnotationKey, loss)
}

// lossOf returns how a person names the loss to accept it. What is accepted once has no
// effect on any later loss: a new state has a new lineage, and an old copy, which goes on
// with the lineage, has other serials from then on.
func lossOf(had *commonv1beta1.StateSummary, found *terraform.State) string {
	lineage := cmp.Or(had.Lineage, workspace.LineageUnknown)
	if found.Lineage == had.Lineage && found.Lineage != "" {
		return fmt.Sprintf("%s/%d", lineage, had.Serial)
	}

	return lineage
}

// remembered returns what the Workspace remembers of its state, nil if nothing.
func remembered(ws workspace.Workspace) *commonv1beta1.StateSummary {
	if s := ws.GetObservation().State; s != nil {
		return s
	}

	// It was created, but by a version that did not remember the state, or by an
	// instance that ended before it could.
	if !meta.GetExternalCreateSucceeded(ws).IsZero() {
		return &commonv1beta1.StateSummary{Resources: 1}
	}

	return nil
}

// lost says what is wrong with a state, given what is remembered of the one that
// should be there. It is empty if nothing is.
func lost(had *commonv1beta1.StateSummary, found *terraform.State) string {
	// Nothing that could be there twice.
	if had == nil || had.Resources == 0 {
		return ""
	}

	switch {
	case found.Lineage == "":
		return "is gone: expected " + describeState(had.Lineage, had.Serial, had.Resources) + ", found none"
	case had.Lineage == "" && found.Empty():
		// A backend may have made a new state by merely being asked for one.
		return "is empty: expected " + describeState(had.Lineage, had.Serial, had.Resources)
	case had.Lineage != "" && found.Lineage != had.Lineage:
		return fmt.Sprintf("is another one: expected %s, found %s", describeState(had.Lineage, had.Serial, had.Resources), describeState(found.Lineage, serial(found), found.Managed))
	case serial(found) < had.Serial:
		return fmt.Sprintf("is an old copy: expected serial %d or later of lineage %s, found serial %d", had.Serial, had.Lineage, serial(found))
	default:
		return ""
	}
}

func describeState(lineage string, serial int64, resources int) string {
	if lineage == "" {
		return "the one that it was created with"
	}

	return fmt.Sprintf("lineage %s (serial %d, %d resources)", lineage, serial, resources)
}

// summarizeState returns what to remember of a state.
func summarizeState(s *terraform.State) *commonv1beta1.StateSummary {
	return &commonv1beta1.StateSummary{Lineage: s.Lineage, Serial: serial(s), Resources: s.Managed}
}

// applied returns what to remember of a state after an apply: how many resources it
// has got by now. The next look finds out the rest.
func applied(before *commonv1beta1.StateSummary, s terraform.Summary) *commonv1beta1.StateSummary {
	after := commonv1beta1.StateSummary{}
	if before != nil {
		after = *before
	}

	after.Resources = max(after.Resources+s.Add+s.Import-s.Destroy, 0)

	return &after
}

// serial of a state as the API has it: it never gets near the limit.
func serial(s *terraform.State) int64 { return int64(s.Serial) } //nolint:gosec // See above.
