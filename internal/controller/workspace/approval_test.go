// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// deletes is a plan that deletes something.
func deletes() terraform.Plan {
	return terraform.Plan{
		Changes:   true,
		Summary:   terraform.Summary{Destroy: 1},
		Resources: []terraform.ResourceChange{{Action: "delete", Address: "a.b"}},
		Deletions: terraform.Deletions{Count: 1, First: []string{"a.b"}, Digest: "digest"},
	}
}

func approving(id string) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) {
		ws.SetAnnotations(map[string]string{workspace.ApprovePlanAnnotationKey: id})
	}
}

// TestApproval has each reason why a plan waits or does not.
func TestApproval(t *testing.T) {
	t.Parallel()

	id := func(s terraform.State) string {
		return workspace.PlanID(with(), summarizeState(&s), "digest")
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		plan   terraform.Plan
		prior  terraform.State
		change func(r *attempt)

		// condition is the reason of AwaitingApproval, and text is in its message. updates says that the plan is applied.
		condition xpv2.ConditionReason
		text      string
		updates   bool
		want      outcome
	}{
		"NotAsked": {
			reason:  "By default, nothing waits.",
			ws:      with(owner, readyFor(1)),
			plan:    deletes(),
			prior:   ownState(),
			change:  func(r *attempt) { r.approves = commonv1beta1.ApprovalNever },
			updates: true,
			want:    outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"NothingDeleted": {
			reason:  "Only deletions wait.",
			ws:      with(owner, readyFor(1)),
			plan:    changes(),
			prior:   ownState(),
			updates: true,
			want:    outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Pending": {
			reason:    "Nobody has approved it.",
			ws:        with(owner, readyFor(1)),
			plan:      deletes(),
			prior:     ownState(),
			condition: reasonPlanPending,
			text:      "delete a.b. To apply exactly this plan: kubectl annotate --overwrite workspaces.tf.upbound.io ws terraform.crossplane.io/approve-plan=" + id(ownState()),
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Forgetful": {
			reason: "A replacement that forgets is one, although the CLI does not count it.",
			ws:     with(owner, readyFor(1)),
			plan: func() terraform.Plan {
				p := deletes()
				p.Summary.Destroy, p.Deletions.Forgotten = 0, p.Deletions.Count

				return p
			}(),
			prior:     ownState(),
			condition: reasonPlanPending,
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"NotReady": {
			reason:    "What was not ready waits, too.",
			ws:        with(owner),
			plan:      deletes(),
			prior:     ownState(),
			condition: reasonPlanPending,
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: "AwaitingApproval", lineage: ownLineage},
		},
		"Outdated": {
			reason:    "Something else was approved.",
			ws:        with(owner, readyFor(1), approving("d-1")),
			plan:      deletes(),
			prior:     ownState(),
			condition: reasonApprovalOutdated,
			text:      "The annotation has the ID of another plan, d-1. Plan " + id(ownState()),
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Approved": {
			reason:  "Exactly this was approved.",
			ws:      with(owner, readyFor(1), approving(id(ownState()))),
			plan:    deletes(),
			prior:   ownState(),
			updates: true,
			want:    outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"ApprovedInBlock": {
			reason:  "A block of YAML ends with a line feed.",
			ws:      with(owner, readyFor(1), approving(id(ownState())+"\n")),
			plan:    deletes(),
			prior:   ownState(),
			updates: true,
			want:    outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"OtherPlan": {
			reason:    "The apply would make another plan, which could delete something.",
			ws:        with(owner, readyFor(1)),
			plan:      changes(),
			prior:     ownState(),
			change:    func(r *attempt) { r.runner.remakes = true },
			condition: reasonPlanNotSaved,
			text:      "it is a test. Nothing is applied",
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"CreatesOther": {
			reason:    "This one is not created.",
			ws:        with(),
			plan:      changes(),
			change:    func(r *attempt) { r.runner.remakes = true },
			condition: reasonPlanNotSaved,
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: "AwaitingApproval"},
		},
		"NoSummary": {
			reason:    "It is not known what the plan deletes.",
			ws:        with(owner, readyFor(1)),
			plan:      terraform.Plan{Changes: true, NoSummary: true},
			prior:     ownState(),
			condition: reasonPlanNotSaved,
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Secret": {
			reason: "Another deletion may look the same.",
			ws:     with(owner, readyFor(1)),
			plan: func() terraform.Plan {
				p := deletes()
				p.Deletions.Secret = true

				return p
			}(),
			prior:     ownState(),
			condition: reasonPlanNotSaved,
			text:      "contains a secret",
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"AfterFailure": {
			reason:    "The failure is not forgotten.",
			ws:        with(owner, func(ws *clusterv1beta1.Workspace) { applyFailed(ws) }),
			plan:      deletes(),
			prior:     ownState(),
			condition: reasonPlanPending,
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonUnavailable, lineage: ownLineage},
		},
		"Unnamed": {
			reason: "The CLI does not name all that it deletes.",
			ws:     with(owner, readyFor(1)),
			plan: func() terraform.Plan {
				p := deletes()
				p.Summary.Destroy = 2

				return p
			}(),
			prior:     ownState(),
			condition: reasonPlanNotSaved,
			text:      "the CLI counts 2 to destroy, and names 1",
			want:      outcome{ran: []string{"plan"}, events: []string{"AwaitingApproval"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"NotAllowed": {
			reason:  "Nothing follows that could be approved.",
			ws:      with(owner, readyFor(1), policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)),
			plan:    deletes(),
			prior:   ownState(),
			updates: true, // The managed reconciler knows that it may not.
			want:    outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.approves = commonv1beta1.ApprovalDestroy
			r.planned(tc.plan, tc.prior)

			if tc.change != nil {
				tc.change(r)
			}

			err := r.observeInConnect(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			c := r.ws.GetCondition(workspace.TypeAwaitingApproval)
			if c.Reason != tc.condition || !strings.Contains(c.Message, tc.text) {
				t.Errorf("\n%s\nwant %s with %q, got %s: %s", tc.reason, tc.condition, tc.text, c.Reason, c.Message)
			}

			if o := r.observation; (o.ResourceExists && o.ResourceUpToDate) == tc.updates {
				t.Errorf("\n%s\nwant that something follows: %v, got %+v", tc.reason, tc.updates, o)
			}
		})
	}
}

// TestChangedBefore has each reason why a plan may be another one than before, and a plan that differs without a reason.
func TestChangedBefore(t *testing.T) {
	t.Parallel()

	asked := func(s corev1.ConditionStatus, generation int64) xpv2.Condition {
		return xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: s, ObservedGeneration: generation}
	}
	before := func(id string, serial int64) schedule.Observation {
		return schedule.Observation{Awaiting: &schedule.Awaiting{Changed: 1}, Plan: &commonv1beta1.PlanSummary{ID: id}, State: &commonv1beta1.StateSummary{Serial: serial}}
	}

	cases := map[string]struct {
		reason string
		before schedule.Observation
		asked  xpv2.Condition
		want   int
	}{
		"NoReason":   {reason: "Nothing else has changed.", before: before("x-1", 3), asked: asked(corev1.ConditionTrue, 2), want: 2},
		"Same":       {reason: "It is the plan of before.", before: before("x-2", 3), asked: asked(corev1.ConditionTrue, 2)},
		"Edited":     {reason: "A person has edited the Workspace.", before: before("x-1", 3), asked: asked(corev1.ConditionTrue, 1)},
		"Approved":   {reason: "The plan of before was approved.", before: before("x-1", 3), asked: asked(corev1.ConditionFalse, 2)},
		"OtherState": {reason: "Something else has changed the state.", before: before("x-1", 2), asked: asked(corev1.ConditionTrue, 2)},
		"First":      {reason: "No plan has waited.", before: schedule.Observation{}, asked: asked(corev1.ConditionTrue, 2)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with(func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) })
			ws.SetConditions(tc.asked)

			if got := changedBefore(ws, tc.before, "x-2", 3); got != tc.want {
				t.Errorf("\n%s\nchangedBefore(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// TestApprovedPlanIsStale ensures that the plan that an apply makes in place of a stale one needs an approval of its own.
func TestApprovedPlanIsStale(t *testing.T) {
	t.Parallel()

	s := ownState()
	r := newAttempt(t, with(owner, readyFor(1), approving(workspace.PlanID(with(), summarizeState(&s), "digest"))))
	r.approves = commonv1beta1.ApprovalDestroy
	r.observed(t, deletes(), s)

	if err := r.begin(r.ws, r.applier.plan); err != nil {
		t.Errorf("want the approved plan to be applied, got %v", err)
	}

	if diff := cmp.Diff([]string{"ApprovedPlan"}, r.events.reasons); diff != "" {
		t.Errorf("Events: -want, +got:\n%s", diff)
	}

	next := deletes()
	s.Serial++
	next.Prior = &s

	if err := r.begin(r.ws, &next); err == nil || !strings.Contains(err.Error(), "waits for approval") {
		t.Errorf("want an error for a plan from a later state, got %v", err)
	}
}

// TestApproveNothing has policies with which nothing can be applied, because nothing exists to update.
func TestApproveNothing(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)))
	r.approves = commonv1beta1.ApprovalAlways
	r.observed(t, changes(), terraform.State{})

	if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Status == corev1.ConditionTrue || r.failure != nil {
		t.Errorf("want a plan that is not reviewed, got %s: %s, and error %v", c.Reason, c.Message, r.failure)
	}
}

// TestLockedAfterApproval has an approved update whose state is locked. Ready does not say that it is applied.
func TestLockedAfterApproval(t *testing.T) {
	t.Parallel()

	waits := xpv2.Unavailable()
	waits.Reason = reasonWaits

	r := newAttempt(t, with(owner, func(ws *clusterv1beta1.Workspace) { ws.SetConditions(waits) }))
	r.observed(t, changes(), ownState())
	r.runner.applyErr = lockedBy("alice@laptop", time.Now())

	o := r.ws.GetObservation()
	o.Plan.ID = "x-1"
	r.ws.SetObservation(o)

	during := ""
	r.runner.applying = func() { during = r.ws.GetCondition(xpv2.TypeReady).Message }

	if _, err := r.Update(t.Context(), r.ws); !terraform.IsLocked(err) {
		t.Errorf("Update(...): want the lock, got %v", err)
	}

	if c := r.ws.GetCondition(xpv2.TypeReady); !strings.HasPrefix(during, applyingPrefix) || c.Message != planNotApplied {
		t.Errorf("want Ready to say %q and then %q, got %q and %q", applyingPrefix, planNotApplied, during, c.Message)
	}
}

// TestRestOfDeletion ensures that people learn why a deletion that they have approved did not end.
func TestRestOfDeletion(t *testing.T) {
	t.Parallel()

	s := ownState()
	r := newAttempt(t, with(owner, deleted, approving("x-1"), func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.Deleting(), xpv2.ReconcileError(errors.New("bucket not empty")), xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionFalse, Reason: reasonApproved})
	}))
	r.approves, r.runner.state = commonv1beta1.ApprovalDestroy, &s

	for range 2 {
		if _, err := r.Delete(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		const want = ". The last try failed: bucket not empty"
		if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Status != corev1.ConditionTrue || !strings.HasSuffix(c.Message, want) || strings.Count(c.Message, want) != 1 {
			t.Errorf("want %q at the end, got %s: %s", want, c.Reason, c.Message)
		}

		r.ws.SetConditions(xpv2.ReconcileSuccess()) // To wait is no failure.
	}
}

// TestDeletionOfFailed has a Workspace with an approved plan in its past, whose last plan has failed. Its deletion was not tried yet.
func TestDeletionOfFailed(t *testing.T) {
	t.Parallel()

	s := ownState()
	r := newAttempt(t, with(owner, deleted, func(ws *clusterv1beta1.Workspace) {
		ws.SetConditions(xpv2.Available(), xpv2.ReconcileError(errors.New("cannot plan")), xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionFalse, Reason: reasonApproved})
	}))
	r.approves, r.runner.state = commonv1beta1.ApprovalDestroy, &s

	if _, err := r.Delete(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Status != corev1.ConditionTrue || strings.Contains(c.Message, "cannot plan") {
		t.Errorf("want nothing about a try, got %s: %s", c.Reason, c.Message)
	}
}

// TestDeletionApproval has a deletion that waits until it is approved.
func TestDeletionApproval(t *testing.T) {
	t.Parallel()

	s := ownState()
	id := workspace.DeletionID(with(), summarizeState(&s))

	cases := map[string]struct {
		reason    string
		ws        *clusterv1beta1.Workspace
		state     terraform.State
		condition xpv2.ConditionReason
		want      outcome
	}{
		"Pending": {
			reason:    "Nobody has approved it.",
			ws:        with(owner, deleted),
			state:     ownState(),
			condition: reasonDeletionPending,
			want:      outcome{ran: []string{"state pull"}, events: []string{"AwaitingApproval"}, lineage: ownLineage},
		},
		"OfPlan": {
			reason:    "An approval of a plan is none of the deletion.",
			ws:        with(owner, deleted, approving("d-1")),
			state:     ownState(),
			condition: reasonApprovalOutdated,
			want:      outcome{ran: []string{"state pull"}, events: []string{"AwaitingApproval"}, lineage: ownLineage},
		},
		"Approved": {
			reason: "It destroys.",
			ws:     with(owner, deleted, approving(id)),
			state:  ownState(),
			want:   outcome{ran: []string{"state pull", "destroy", "workspace delete"}, events: []string{"ApprovedPlan"}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"Nothing": {
			reason: "There is nothing to approve.",
			ws:     with(deleted),
			want:   outcome{ran: []string{"state pull", "workspace delete"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.approves = commonv1beta1.ApprovalDestroy
			r.runner.state, r.runner.destroyed = &tc.state, 2

			_, err := r.Delete(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			if c := r.ws.GetCondition(workspace.TypeAwaitingApproval); c.Reason != tc.condition {
				t.Errorf("\n%s\nwant %s, got %s: %s", tc.reason, tc.condition, c.Reason, c.Message)
			}

			waits := tc.condition != ""
			if o := r.records.Get(r.ws).Observation; (o.Awaiting != nil) != waits || o.Deleted == waits {
				t.Errorf("\n%s\nwant a record that it waits: %v, got %+v", tc.reason, waits, o)
			}

			// The next look finds the same, and says nothing.
			if waits {
				r.events.reasons, r.runner.ran = nil, nil
				_, err := r.Delete(t.Context(), r.ws)
				tc.want.events = nil
				r.expect(t, tc.reason, tc.want, err)

				if diff := cmp.Diff(id, r.ws.GetObservation().Plan.ID, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("ID in the status: -want, +got:\n%s", diff)
				}
			}
		})
	}
}
