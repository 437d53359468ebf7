// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The condition and the annotation are part of the interface: they must never change.
const (
	awaitingApproval = "AwaitingApproval"
	approvePlan      = "terraform.crossplane.io/approve-plan"
)

func withApproval(a commonv1beta1.Approval) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.Approval = a })
}

// replacing returns evidence.tf with a resource that each number replaces.
func replacing(t *testing.T, n int) string {
	t.Helper()

	return strings.Replace(moduleFile(t, "evidence.tf"), "= var.dir", fmt.Sprintf("= var.dir\n  triggers_replace = %d", n), 1)
}

// expectPending waits until the Workspace waits for approval with the supplied reason, and returns the ID of what it
// waits with.
func expectPending(t *testing.T, c *cluster, ws workspace.Workspace, reason xpv2.ConditionReason, texts ...string) string {
	t.Helper()
	expectReason(t, c, ws, awaitingApproval, reason)
	expectCondition(t, c, ws, awaitingApproval, corev1.ConditionTrue, texts...)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionTrue)

	p := ws.GetObservation().Plan
	if p == nil || p.ID == "" {
		t.Fatalf("Workspace %q: want an ID in the status, got the plan %+v", ws.GetName(), p)
	}

	return p.ID
}

// expectAnotherPlan requests a plan, and waits until it was made.
func expectAnotherPlan(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()

	token := unique("token")
	c.annotate(t, ws, requestedAt, token)
	expectHandled(t, c, ws, token)
}

// TestApproval has a Workspace whose deletions of resources wait for approval, from its creation to its end.
func TestApproval(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, _ := useCommon(t, cli)

		eachScope(t, func(t *testing.T, s scope) {
			suffix := "approval-" + cli + "-" + strings.ToLower(string(s))

			// The stricter one counts.
			spec := withBackend(ns, suffix)
			spec.Approval = commonv1beta1.ApprovalDestroy
			cfg := c.createConfig(t, s, ns, spec)

			e := newEvidence(t)
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(replacing(t, 1)), withVar("dir", string(e)), withApproval(commonv1beta1.ApprovalNever))

			// What deletes nothing goes on as without approval.
			expectReady(t, c, ws)

			c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
			expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
			expectReady(t, c, ws)

			if has := ws.GetCondition(awaitingApproval); has.Status != corev1.ConditionUnknown {
				t.Errorf("want no condition of a Workspace that never waited, got %s", describe(has))
			}

			before := c.readState(t, stateSecret(ws, ns, suffix))
			expectUnchanged := func() {
				t.Helper()

				if after := c.readState(t, stateSecret(ws, ns, suffix)); after.Serial != before.Serial {
					t.Errorf("want the state as before, got serial %d in place of %d", after.Serial, before.Serial)
				}
			}

			c.changeModule(t, ws, replacing(t, 2))

			id := expectPending(t, c, ws, "PlanPending", "replace terraform_data.evidence", "kubectl annotate --overwrite workspaces.tf.", " "+ws.GetName(), approvePlan+"=d-")
			expectEvent(t, c, ws, awaitingApproval, approvePlan+"="+id)

			// Who waits for the change goes on waiting.
			if ready := ws.GetCondition(xpv2.TypeReady); ready.Status != corev1.ConditionTrue || ready.ObservedGeneration >= ws.GetGeneration() {
				t.Errorf("want Ready of the generation before %d, got %s of %d", ws.GetGeneration(), describe(ready), ready.ObservedGeneration)
			}

			if got := ws.GetObservation().Plan.Destroyed; len(got) != 1 || got[0] != "terraform_data.evidence" {
				t.Errorf("want what would be destroyed in the status, got %q", got)
			}

			// The ID stays, whatever is changed without an effect on what is deleted.
			c.annotate(t, ws, "example.org/commit", "1")
			expectAnotherPlan(t, c, ws)
			c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "hello"})
			expectAnotherPlan(t, c, ws)

			if again := expectPending(t, c, ws, "PlanPending"); again != id {
				t.Errorf("want the same ID %s for the same effects, got %s", id, again)
			}

			expectUnchanged()

			c.annotate(t, ws, approvePlan, "d-0123")
			expectPending(t, c, ws, "ApprovalOutdated", "The annotation has the ID of another plan, d-0123. Plan "+id)
			expectUnchanged()
			expectDone(t, e, "created")

			c.annotate(t, ws, approvePlan, id)
			expectReason(t, c, ws, awaitingApproval, "Approved")
			expectEvent(t, c, ws, "ApprovedPlan", id)
			expectDone(t, e, "created", "destroyed", "created")
			expectReadyNow(t, c, ws)
			expectChangedOnce(t, c, stateSecret(ws, ns, suffix), before)

			// An approval that stays approves nothing else: not even the same deletion once more.
			c.changeModule(t, ws, replacing(t, 3))

			if next := expectPending(t, c, ws, "ApprovalOutdated", id); next == id {
				t.Errorf("want another ID after the apply, got %s again", next)
			}

			// The author changes the mind: nothing is to be approved any more.
			c.changeModule(t, ws, replacing(t, 2))
			expectReason(t, c, ws, awaitingApproval, "NothingToApprove")
			expectReady(t, c, ws)

			c.remove(t, ws)
			id = expectPending(t, c, ws, "ApprovalOutdated", "1 resource would be destroyed", "To keep the infrastructure and its state: set spec.", approvePlan+"=x-")
			expectEvent(t, c, ws, awaitingApproval, approvePlan+"="+id)
			expectDone(t, e, "created", "destroyed", "created")

			c.annotate(t, ws, approvePlan, id)
			expectGone(t, c, ws)
			expectEvent(t, c, ws, "ApprovedPlan", id)
			expectDone(t, e, "created", "destroyed", "created", "destroyed")
		})
	})
}

// TestApprovalElsewhere has plans that wait while their instance is replaced by another one, that another instance
// applies, and that cannot be applied as they were made.
func TestApprovalElsewhere(t *testing.T) {
	t.Parallel()

	const suffix = "approval-elsewhere"

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	first := startInstance(t, c, withShard(one), withShortLease())
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))

	create := func(e evidence, shard string) workspace.Workspace {
		return c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(replacing(t, 1)), withVar("dir", string(e)), withApproval(commonv1beta1.ApprovalDestroy))
	}

	moved, kept := newEvidence(t), newEvidence(t)
	mover, keeper := create(moved, one), create(kept, one)

	for _, ws := range []workspace.Workspace{mover, keeper} {
		expectReady(t, c, ws)
		c.changeModule(t, ws, replacing(t, 2))
	}

	ids := map[workspace.Workspace]string{mover: expectPending(t, c, mover, "PlanPending"), keeper: expectPending(t, c, keeper, "PlanPending")}
	if ids[mover] == ids[keeper] {
		t.Errorf("want an ID for each Workspace, got %s twice", ids[mover])
	}

	// It is killed between the approval of one of them and the apply.
	first.kill(t)
	c.annotate(t, mover, approvePlan, ids[mover])
	startInstance(t, c, withShard(two), withShortLease())
	c.relabel(t, mover, two)
	c.relabel(t, keeper, two)

	expectAnotherPlan(t, c, keeper)

	if id := expectPending(t, c, keeper, "PlanPending"); id != ids[keeper] {
		t.Errorf("want the ID %s from another instance, too, got %s", ids[keeper], id)
	}

	expectReason(t, c, mover, awaitingApproval, "Approved")
	expectReady(t, c, mover)
	expectDone(t, moved, "created", "destroyed", "created")
	expectDone(t, kept, "created")

	// With these arguments, the apply would make a plan of its own.
	c.changeArguments(t, keeper, "applyArgs", "-target=terraform_data.evidence")
	expectReason(t, c, keeper, awaitingApproval, "PlanNotSaved")
	expectCondition(t, c, keeper, awaitingApproval, corev1.ConditionTrue, "spec.forProvider.applyArgs", "Nothing is applied")
	c.annotate(t, keeper, approvePlan, ids[keeper])
	expectAnotherPlan(t, c, keeper)
	expectReason(t, c, keeper, awaitingApproval, "PlanNotSaved")
	expectDone(t, kept, "created")

	// The infrastructure stays if that is chosen in place of an approval.
	c.remove(t, keeper)
	expectPending(t, c, keeper, "ApprovalOutdated", "1 resource would be destroyed")
	c.changePolicies(t, keeper, policyNoDelete())
	expectGone(t, c, keeper)
	expectExists(t, c, stateSecret(keeper, ns, suffix))
	expectDone(t, kept, "created")
}

// TestApprovalIsIdle ensures that a Workspace that waits costs one plan for each poll, and no write, and that a deletion
// that waits does not block its namespace without a word.
func TestApprovalIsIdle(t *testing.T) {
	t.Parallel()

	const suffix = "approval-idle"

	c, ns, shard, i := useCommon(t, "tofu")
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	e := newEvidence(t)
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(replacing(t, 1)), withVar("dir", string(e)), withApproval(commonv1beta1.ApprovalDestroy))
	expectReady(t, c, ws)

	c.changeModule(t, ws, replacing(t, 2))
	expectPending(t, c, ws, "PlanPending")
	expectRuns(t, i, ws, "init", "plan", "apply", "plan")

	c.annotate(t, ws, "crossplane.io/poll-interval", pollOften.String())
	expectAnotherRun(t, i, ws, "plan")
	c.get(t, ws)
	version := ws.GetResourceVersion()

	for range 2 {
		expectAnotherRun(t, i, ws, "plan")
	}

	if c.get(t, ws); ws.GetResourceVersion() != version {
		t.Error("want no write at a poll of a Workspace that waits")
	}

	c.remove(t, ws)
	id := expectPending(t, c, ws, "DeletionPending")

	eventually(t, func() error {
		if n := strings.Count(eventsAbout(t, c, ws), approvePlan+"="+id); n != 1 {
			return errors.Errorf("want one Event about the deletion that waits, got %d", n)
		}

		return nil
	})

	c.annotate(t, ws, approvePlan, id)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}
