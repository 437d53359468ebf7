// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// errStaleApproval is the refusal to apply a plan that is not the one that was approved.
var errStaleApproval = errors.New("the state has changed since the approved plan was made. Nothing was changed: another plan follows, which waits for approval")

// An approver finds out whether a plan may be applied.
type approver struct {
	*pass

	cli approvalCLI
}

// An approvalCLI knows what a plan does, and whether an apply would do that.
type approvalCLI interface {
	WhyNewPlan() string
	ReadPlan(ctx context.Context, p *terraform.Plan) (*terraform.Reading, error)
	CLIVersion() string
}

// An approval is what is known of a plan that needs one. The zero value is that of a plan that needs none.
type approval struct {
	id, secret string

	// waits is nil if the plan is approved.
	waits *schedule.Awaiting
}

// uncertain returns why it is not known what the apply of a plan would delete, or is empty. whyNew says why the apply would
// make another plan: see runner.WhyNewPlan.
func uncertain(p *terraform.Plan, whyNew string) string {
	switch {
	case whyNew != "":
		return whyNew
	case p.NoSummary:
		return "the CLI has not told what it would do"
	case p.Deletions.Secret:
		return "an address of what it would destroy contains a secret, so that another one may look the same"
	case p.Deletions.Count-p.Deletions.Forgotten != p.Summary.Destroy:
		return fmt.Sprintf("the CLI counts %d to destroy, and names %d", p.Summary.Destroy, p.Deletions.Count-p.Deletions.Forgotten)
	default:
		return ""
	}
}

// mustApprove says whether a person has to approve a plan.
func (ps *pass) mustApprove(p *terraform.Plan, whyNew string) bool {
	switch {
	case !p.Changes:
		return false
	case ps.approves == commonv1beta1.ApprovalDestroy:
		return p.Deletions.Count > 0 || uncertain(p, whyNew) != ""
	default:
		return true
	}
}

// checkApproved returns an error unless the plan that is about to be applied is the one that the planner has found
// approved, or needs no approval. made is the one of the planner.
func (ps *pass) checkApproved(ws workspace.Workspace, p, made *terraform.Plan, whyNew func() string) error {
	if ps.approves == commonv1beta1.ApprovalNever {
		return nil
	}

	why := whyNew()

	switch {
	case !ps.mustApprove(p, why):
		return nil
	// An approval is for one state.
	case p != made:
		return errStaleApproval
	case uncertain(p, why) != "":
		return errors.New("what would be applied is not certain to be what was approved: " + uncertain(p, why) + ". Nothing was changed")
	}

	ps.recorder.Event(ws, event.Normal(reasonApplying, "Applying the approved plan "+workspace.Answer(ws, workspace.ApprovePlanAnnotationKey)))

	return nil
}

// approval returns what a plan waits for. before is the last observation: a plan that has another ID each time can never
// be approved.
func (a *approver) approval(ctx context.Context, ws workspace.Workspace, p *terraform.Plan, before schedule.Observation) (approval, error) {
	// Nothing else may cost those who ask for no approval.
	if a.approves == commonv1beta1.ApprovalNever || !p.Changes {
		return approval{}, nil
	}

	whyNew := a.cli.WhyNewPlan()

	switch why := uncertain(p, whyNew); {
	case !a.mustApprove(p, whyNew):
		return approval{}, nil
	case why != "":
		return notSaved(why), nil
	case a.approves == commonv1beta1.ApprovalDestroy:
		id := workspace.PlanID(ws, summarizeState(p.Prior), p.Deletions.Digest)

		return approval{id: id, waits: pending(ws, id, reasonPlanPending, planText(ws, p, id))}, nil
	}

	ap, err := a.readPlan(ctx, ws, p)
	if errors.Is(err, terraform.ErrPlanEncrypted) {
		return notSaved("the module encrypts plans, so that two of them cannot be compared. Remove plan from the block encryption of the module or of spec.configuration, or from TF_ENCRYPTION in env"), nil
	}

	if err != nil || ap.waits == nil {
		return ap, errors.Wrap(err, "cannot ask for the approval of the plan")
	}

	ap.waits.Changed = changedBefore(ws, before, ap.id, p.Prior.Serial)

	if ap.waits.Changed >= maxChanged {
		ap.waits.Message = "This plan differs each time it is made, for example because of plantimestamp(): it cannot be approved. " + ap.waits.Message
	}

	return ap, nil
}

// maxChanged is how often a plan differs from the one before until it is said that it always does.
const maxChanged = 2

// changedBefore returns how often in a row another plan was made for the same specification and state: before is the last
// observation, id that of the new plan. An approval, or the request of a plan, is no reason for another one.
func changedBefore(ws workspace.Workspace, before schedule.Observation, id string, serial uint64) int {
	c := ws.GetCondition(workspace.TypeAwaitingApproval)

	if before.Awaiting == nil || c.Status != corev1.ConditionTrue || c.ObservedGeneration != ws.GetGeneration() || before.Plan.ID == id || before.State.Serial != int64(serial) { //nolint:gosec // As in the status.
		return 0
	}

	return before.Awaiting.Changed + 1
}

// readPlan identifies a plan by all that it does, and writes its text to its Secret if it waits.
func (a *approver) readPlan(ctx context.Context, ws workspace.Workspace, p *terraform.Plan) (approval, error) {
	s, err := a.planSecret(ctx, ws)
	if err != nil {
		return approval{}, err
	}

	r, err := a.cli.ReadPlan(ctx, p)
	if err != nil {
		return approval{}, err
	}

	ap := approval{id: workspace.ReadPlanID(ws, summarizeState(p.Prior), s.Data[planSecretKey], a.cli.CLIVersion(), r.Effects), secret: client.ObjectKeyFromObject(s).String()}
	text := fmt.Sprintf("%s. Text: kubectl get secret %s -n %s -o jsonpath={.data.%s} | base64 -d", planText(ws, p, ap.id), s.GetName(), s.GetNamespace(), planSecretText)

	if ap.waits = pending(ws, ap.id, reasonPlanPending, text); ap.waits == nil {
		return ap, nil
	}

	return ap, a.showPlan(ctx, s, ap.id, r.Text)
}

// deletionApproval returns what the deletion of everything in the supplied state waits for.
func (ps *pass) deletionApproval(ws workspace.Workspace, s *terraform.State) approval {
	if ps.approves == commonv1beta1.ApprovalNever || s.Managed == 0 {
		return approval{}
	}

	id := workspace.DeletionID(ws, summarizeState(s))

	return approval{id: id, waits: pending(ws, id, reasonDeletionPending, fmt.Sprintf("%s would be destroyed. To approve that: %s. To keep the infrastructure and its state: %s",
		workspace.Resources(s.Managed), howToApprove(ws, id), howToOrphan(ws)))}
}

// pending returns what waits for an approval, or nil if it is approved. An annotation for something else may be one that
// was approved and applied before.
func pending(ws workspace.Workspace, id string, reason xpv2.ConditionReason, message string) *schedule.Awaiting {
	if workspace.Approves(ws, id) {
		return nil
	}

	if other := workspace.Answer(ws, workspace.ApprovePlanAnnotationKey); other != "" {
		reason = reasonApprovalOutdated
		message = fmt.Sprintf("The annotation has the ID of another plan, %s. %s", terraform.Truncate(other, maxCause), message)
	}

	return &schedule.Awaiting{Reason: reason, Message: message}
}
