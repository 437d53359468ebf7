// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// lostState returns an error if the state that was found is not that of the
// Workspace.
func (e *external) lostState(ws workspace.Workspace, found *terraform.State) error {
	// Observing another state does no harm.
	if workspace.OnlyObserves(ws) {
		return nil
	}

	place, err := e.runner.StatePlace()
	if err != nil {
		return err
	}

	f := workspace.Found{StateSummary: *summarizeState(found), Empty: found.Empty()}

	if place.OnDisk {
		here, err := e.beganHere(ws)
		if err != nil {
			return err
		}

		f.OtherDisk = !here
	}

	return lostState(ws, f, place.OnDisk)
}

// beganHere says whether the directory of the Workspace is the one in which the creation of
// its infrastructure began.
func (e *external) beganHere(ws workspace.Workspace) (bool, error) {
	n, err := e.runner.RunRecord()
	if err != nil || n == nil {
		return false, err
	}

	return n.CreationStarted.Equal(ws.GetOwnership().CreationStarted), nil
}

// lostState returns an error if the state that was found is not the one that the Workspace had,
// and no person has accepted that. To continue would create everything in it a second time, or
// change resources of another owner.
func lostState(ws workspace.Workspace, found workspace.Found, onDisk bool) error {
	had := workspace.Remembered(ws, found.OtherDisk)

	reason := workspace.Lost(had, found)
	if reason == "" {
		return nil
	}

	loss := workspace.LossOf(*had, found)
	if ws.GetAnnotations()[workspace.AcceptLostStateAnnotationKey] == loss {
		return nil
	}

	where := ""
	if onDisk {
		where = " The module has no backend: its state was on the disk of the instance that served the Workspace before."
	}

	return errors.Errorf("the state of Terraform workspace %q %s.%s Nothing was changed. Bring the state back, or accept what is there now with the annotation %s=%s",
		meta.GetExternalName(ws), reason, where, workspace.AcceptLostStateAnnotationKey, loss)
}

// summarizeState returns the summary of a state for the status.
func summarizeState(s *terraform.State) *commonv1beta1.StateSummary {
	return &commonv1beta1.StateSummary{Lineage: s.Lineage, Serial: serial(s), Resources: s.Managed}
}

// applied returns the summary of a state after an apply, with the number of resources that it has
// now. The next observation corrects the rest.
func applied(before *commonv1beta1.StateSummary, s terraform.Summary) *commonv1beta1.StateSummary {
	after := commonv1beta1.StateSummary{}
	if before != nil {
		after = *before
	}

	after.Resources = max(after.Resources+s.Add+s.Import-s.Destroy, 0)

	return &after
}

// serial returns the serial of a state as the API has it. It never gets near the limit.
func serial(s *terraform.State) int64 { return int64(s.Serial) } //nolint:gosec // See above.
