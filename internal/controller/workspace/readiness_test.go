// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestReady ensures that a creation is complete when the apply ends, although the managed reconciler
// marks the Workspace as Creating.
func TestReady(t *testing.T) {
	t.Parallel()

	created := func(ws *clusterv1beta1.Workspace) { workspace.Succeed(ws, time.Now()) }
	planned := func(ws *clusterv1beta1.Workspace) {
		o := ws.GetObservation()
		o.Plan = &commonv1beta1.PlanSummary{Add: 1}
		ws.SetObservation(o)
	}
	taken := func(ws *clusterv1beta1.Workspace) {
		o := ws.GetOwnership()
		o.TakenOverAt = new(metav1.Now())
		ws.SetOwnership(o)
	}
	conditions := func(c ...xpv2.Condition) func(ws *clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { ws.SetConditions(c...) }
	}

	const incomplete = "The creation is not complete, and goes on only with Update in spec.managementPolicies: see Drifted"

	says := func(message string) xpv2.Condition { return xpv2.Unavailable().WithMessage(message) }
	notServed := xpv2.Unavailable()
	notServed.Reason = workspace.ReasonNotServed
	waits := xpv2.Unavailable()
	waits.Reason = reasonWaits
	waiting := xpv2.Condition{Type: workspace.TypeAwaitingApproval, Status: corev1.ConditionTrue, Reason: reasonPlanPending}
	differs := xpv2.Condition{Type: workspace.TypeDrifted, Status: corev1.ConditionTrue, Reason: reasonPlanHasChanges}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   xpv2.ConditionReason

		message string
	}{
		"Created":      {reason: "An apply is complete when it ends.", ws: with(begun, created, conditions(xpv2.Creating(), xpv2.ReconcileSuccess())), want: xpv2.ReasonAvailable},
		"NotPublished": {reason: "The outputs may not be in the Secret.", ws: with(begun, created, conditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("boom")))), want: xpv2.ReasonCreating},
		"NotCreated":   {reason: "An earlier creation has failed, and this reconcile may not update.", ws: with(begun, conditions(xpv2.Creating(), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: incomplete},
		"Interrupted":  {reason: "The instance was lost in the first apply, and this reconcile may not update.", ws: with(begun, conditions(xpv2.Creating().WithMessage("Applying: 1 to add"), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: incomplete},
		"HalfCreated":  {reason: "The first apply failed in the middle, and this reconcile may not update.", ws: with(begun, owner, conditions(says(lastApplyFailed), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: incomplete},
		"TakenOver":    {reason: "It takes over what others have created, and this reconcile may not update.", ws: with(begun, taken, conditions(says("Not observed yet: see Synced"), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted"},
		"Drifted":      {reason: "A later creation was withdrawn, something else has created a part, and this reconcile may not update.", ws: with(begun, created, conditions(xpv2.Creating(), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted"},
		"Failed":       {reason: "The creation failed. What it left in the state is perhaps not known.", ws: with(begun, planned, conditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("boom")))), want: xpv2.ReasonUnavailable, message: lastApplyFailed},
		"NotApplied":   {reason: "The creation was withdrawn, because the state was locked for example.", ws: with(planned, conditions(xpv2.Creating(), xpv2.ReconcileError(errors.New("boom")))), want: xpv2.ReasonUnavailable, message: planNotApplied},
		"Refused":      {reason: "It was approved, and refused.", ws: with(planned, conditions(waits, xpv2.ReconcileError(errors.New("boom")))), want: xpv2.ReasonUnavailable, message: planNotApplied},
		"Paused":       {reason: "A pause is no failure.", ws: with(planned, conditions(waits, xpv2.ReconcilePaused())), want: reasonWaits},
		"StillWaits":   {reason: "The plan waits, and could not be made again.", ws: with(planned, conditions(waits, waiting, xpv2.ReconcileError(errors.New("boom")))), want: reasonWaits},
		"Waits":        {reason: "To wait is no failure.", ws: with(planned, conditions(waits, xpv2.ReconcileSuccess())), want: reasonWaits},
		"NotApprovable": {
			reason: "It waited, and may not be updated any more.", ws: with(planned, conditions(waits, differs, xpv2.ReconcileSuccess())), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted",
		},
		"RestNotApprovable": {
			reason: "So did the rest of an apply.", ws: with(planned, conditions(says(restWaits), differs, xpv2.ReconcileSuccess())), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted",
		},
		"NotUpdatable": {
			reason: "Its update was not applied, and may not be any more.", ws: with(planned, conditions(says("Applying: 1 to add"), differs, xpv2.ReconcileSuccess())), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted",
		},
		"WaitsDrifted": {reason: "It waits still.", ws: with(planned, conditions(waits, waiting, differs, xpv2.ReconcileSuccess())), want: reasonWaits},
		"NotObserved":  {reason: "This instance serves it now, and could not observe it.", ws: with(conditions(notServed, xpv2.ReconcileError(errors.New("boom")))), want: xpv2.ReasonUnavailable},
		"NotUpdated":   {reason: "This instance serves it now, and may not update it.", ws: with(conditions(notServed, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable},
		"Corrected":    {reason: "A change failed, and was corrected. This reconcile may not update.", ws: with(conditions(says("The last change failed: see Synced"), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted"},
		"ObservedLate": {reason: "An input was late, and this reconcile only observes.", ws: with(conditions(says("Not observed yet: see Synced"), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonUnavailable, message: "The plan has changes: see Drifted"},
		"FailsAgain":   {reason: "Synced has the failure.", ws: with(conditions(says("The last change failed: see Synced"), differs, xpv2.ReconcileError(errors.New("boom"))), planned), want: xpv2.ReasonUnavailable, message: "The last change failed: see Synced"},
		"ReadyDrifted": {reason: "What was specified was applied, and differs since.", ws: with(conditions(xpv2.Available(), differs, xpv2.ReconcileSuccess()), planned), want: xpv2.ReasonAvailable},
		"Deleting":     {reason: "It is being deleted.", ws: with(begun, created, conditions(xpv2.Deleting(), xpv2.ReconcileSuccess())), want: xpv2.ReasonDeleting},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			r.ws.Status = tc.ws.Status

			if err := (managedClient{Client: r.kube, cache: r.kube, connector: r.connector}).Status().Update(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			got := r.recorded(t).GetCondition(xpv2.TypeReady)
			if got.Reason != tc.want || tc.message != "" && got.Message != tc.message {
				t.Errorf("\n%s\nReady: want the reason %s and the message %q, got %s and %q", tc.reason, tc.want, tc.message, got.Reason, got.Message)
			}
		})
	}
}

func TestNotReadyIfChanged(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		was    []xpv2.Condition
		want   xpv2.ConditionReason

		generation int64 // Of Ready.
	}{
		"Changed": {
			reason: "The ready infrastructure is that of an older specification.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(1)},
			want:   xpv2.ReasonUnavailable,
		},
		"Unchanged": {
			reason: "The ready infrastructure is that of this specification. Only its observation failed.",
			was:    []xpv2.Condition{xpv2.Available().WithObservedGeneration(2)},
			want:   xpv2.ReasonAvailable,
		},
		"UnknownGeneration": {
			reason: "It is unknown which specification it was ready with.",
			was:    []xpv2.Condition{xpv2.Available()},
			want:   xpv2.ReasonAvailable,
		},
		"Synced": {
			reason: "The existing provider has reconciled an older specification.",
			was:    []xpv2.Condition{xpv2.Available(), xpv2.ReconcileSuccess().WithObservedGeneration(1)},
			want:   xpv2.ReasonUnavailable,
		},
		"SyncedUnchanged": {
			reason: "It has reconciled this one. The next change may not be Ready.",
			was:    []xpv2.Condition{xpv2.Available(), xpv2.ReconcileSuccess().WithObservedGeneration(2)},
			want:   xpv2.ReasonAvailable, generation: 2,
		},
		"Failed": {
			reason: "It has failed, and it is unknown with which specification it was ready.",
			was:    []xpv2.Condition{xpv2.Available(), xpv2.ReconcileError(errors.New("boom")).WithObservedGeneration(1)},
			want:   xpv2.ReasonAvailable,
		},
		"New": {
			reason: "It has never been ready and has no such condition yet.",
		},
		"Creating": {
			reason: "The condition already says why it is not ready.",
			was:    []xpv2.Condition{xpv2.Creating().WithObservedGeneration(1)},
			want:   xpv2.ReasonCreating,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetGeneration(2)
			ws.SetConditions(tc.was...)

			changeFailed(ws)

			if got := ws.GetCondition(xpv2.TypeReady).Reason; got != tc.want {
				t.Errorf("\n%s\nchangeFailed(...): want Ready for the reason %q, got %q", tc.reason, tc.want, got)
			}

			if got := ws.GetCondition(xpv2.TypeReady).ObservedGeneration; tc.generation != 0 && got != tc.generation {
				t.Errorf("\n%s\nchangeFailed(...): want Ready about generation %d, got %d", tc.reason, tc.generation, got)
			}
		})
	}
}

// TestReadyWithoutGeneration ensures that Ready gets the generation that an older version of the provider has not written. Otherwise
// each restart would plan the Workspace, and a change that fails would leave it True.
func TestReadyWithoutGeneration(t *testing.T) {
	t.Parallel()

	ws := &clusterv1beta1.Workspace{}
	ws.SetGeneration(3)
	ws.SetConditions(xpv2.Available())

	since := metav1.NewTime(time.Unix(1, 0))
	ws.Status.Conditions[0].LastTransitionTime = since

	ready(ws)

	// Condition.Equal would ignore the generation.
	got := ws.GetCondition(xpv2.TypeReady)
	if !got.Equal(xpv2.Available()) || got.ObservedGeneration != 3 || !got.LastTransitionTime.Equal(&since) {
		t.Errorf("want Available of generation 3 since %s, got %+v", since, got)
	}
}
