// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const reasonTookOver event.Reason = "TookOverState"

// Reasons of the condition StateTakenOver.
const (
	reasonResourcesFound xpv2.ConditionReason = "ResourcesFound"
	reasonPlanApplied    xpv2.ConditionReason = "Applied"
	reasonAccepted       xpv2.ConditionReason = "Accepted"
)

// describeTakenOver says what the Workspace has taken over, and what that means.
func describeTakenOver(ws workspace.Workspace, found *terraform.State) string {
	return fmt.Sprintf("The state of Terraform workspace %q, with lineage %s and %s, was there before and is taken over. "+
		"Until a plan is applied that destroys nothing, these resources are destroyed only with the annotation %s=%s",
		workspace.TerraformWorkspace(ws), found.Lineage, workspace.Resources(found.Managed), workspace.AcceptTakenOverStateAnnotationKey, found.Lineage)
}

// allowDestroy records that the Workspace may destroy what it has taken over, if it has taken over anything.
func allowDestroy(ws workspace.Workspace, reason xpv2.ConditionReason) {
	workspace.AllowDestroy(ws)

	if ws.GetCondition(workspace.TypeStateTakenOver).Status == corev1.ConditionTrue {
		transition(ws, workspace.TypeStateTakenOver, corev1.ConditionFalse, reason, "")
	}
}

// keepsTakenOver returns an error if the supplied plan may destroy resources that the Workspace has taken over,
// and no person has accepted that.
func (a *applier) keepsTakenOver(ws workspace.Workspace, p *terraform.Plan) error {
	lineage := p.Prior.Lineage

	switch {
	case workspace.AcceptsDestroy(ws, lineage):
		return nil
	case p.NoSummary || a.cli.WhyNewPlan() != "":
		return takenOverError(ws, lineage, "what the apply would destroy is not known before", "Accept it")
	case p.Summary.Destroy+p.Deletions.Forgotten > 0:
		what := "destroy"
		if p.Deletions.Forgotten > 0 {
			what = "destroy or forget"
		}

		return takenOverError(ws, lineage, fmt.Sprintf("the plan would %s %s%s", what, workspace.Resources(p.Summary.Destroy+p.Deletions.Forgotten), nameDestroyed(p)),
			"Correct spec.forProvider so that the plan keeps them, or accept it")
	default:
		return nil
	}
}

// keepsImports returns an error if the plan replaces a resource that it imports: the module does not fit it, and
// who imports something wants to keep it.
func keepsImports(p *terraform.Plan) error {
	for _, c := range p.Resources {
		if c.DeletesImport() {
			what := "destroy"
			if c.Forgets {
				what = "forget"
			}

			return errors.Errorf("the plan would import %s and %s it, to create another one. Nothing was changed. Correct spec.forProvider so that the plan keeps it, or remove its import block", c.Address, what)
		}
	}

	return nil
}

// deletesTakenOver returns an error if the deletion of the Workspace would destroy resources that the Workspace
// has taken over, and no person has accepted that.
func deletesTakenOver(ws workspace.Workspace, found *terraform.State) error {
	if found.Managed == 0 || workspace.AcceptsDestroy(ws, found.Lineage) {
		return nil
	}

	return takenOverError(ws, found.Lineage, "the deletion would destroy "+workspace.Resources(found.Managed),
		"To leave the infrastructure and its state behind, "+howToOrphan(ws)+". Or accept it")
}

// maxDestroyed is the largest number of resources that an error names.
const maxDestroyed = 3

func nameDestroyed(p *terraform.Plan) string {
	var named []string

	for _, c := range p.Resources {
		if c.Deletes() && len(named) < maxDestroyed {
			named = append(named, c.Address)
		}
	}

	if len(named) == 0 {
		return ""
	}

	if n := p.Summary.Destroy + p.Deletions.Forgotten - len(named); n > 0 {
		named = append(named, fmt.Sprintf("and %d more", n))
	}

	return " (" + strings.Join(named, ", ") + ")"
}

func takenOverError(ws workspace.Workspace, lineage, what, remedy string) error {
	return errors.Errorf("%s, and this Workspace has taken over the state of Terraform workspace %q, and is not known to have created what is in it. Nothing was changed. %s with the annotation %s=%s",
		what, workspace.TerraformWorkspace(ws), remedy, workspace.AcceptTakenOverStateAnnotationKey, lineage)
}
