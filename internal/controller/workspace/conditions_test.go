// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		reason string
		plan   *terraform.Plan
		want   string
	}{
		"Counts": {
			reason: "A plan is described as the CLI does.",
			plan:   &terraform.Plan{Changes: true, Summary: terraform.Summary{Add: 1, Change: 2, Destroy: 3}},
			want:   "1 to add, 2 to change, 3 to destroy",
		},
		"Import": {
			reason: "Imports are mentioned if there are any.",
			plan:   &terraform.Plan{Changes: true, Summary: terraform.Summary{Import: 4}},
			want:   "4 to import, 0 to add, 0 to change, 0 to destroy",
		},
		"OutputsOnly": {
			reason: "A plan without resources is about outputs.",
			plan:   &terraform.Plan{Changes: true, Outputs: []string{"greeting", "name"}},
			want:   "only outputs change: greeting, name",
		},
		"Unknown": {
			reason: "A plan that was made elsewhere says nothing.",
			plan:   &terraform.Plan{Changes: true},
			want:   "changes that the summary of the plan does not count",
		},
		"Resources": {
			reason: "The changes of resources are named.",
			plan: &terraform.Plan{
				Changes: true, Summary: terraform.Summary{Add: 20, Destroy: 2}, MoreResources: 18,
				Resources: []terraform.ResourceChange{{Action: "replace", Address: "a.a"}, {Action: "delete", Address: "a.b"}}, Outputs: []string{"o"},
			},
			want: "20 to add, 0 to change, 2 to destroy: replace a.a, delete a.b, and 18 more",
		},
		"Moved": {
			reason: "Not all changes are counted.",
			plan:   &terraform.Plan{Changes: true, Resources: []terraform.ResourceChange{{Action: "move", Address: "a.a"}}},
			want:   "0 to add, 0 to change, 0 to destroy: move a.a",
		},
		"OutputsAndDrift": {
			reason: "What changes by itself does not hide what changes.",
			plan:   &terraform.Plan{Changes: true, Outputs: []string{"greeting"}, Drift: []string{"a.a"}},
			want:   "only outputs change: greeting; changed outside of Terraform: a.a",
		},
		"Drift": {
			reason: "Resources that were changed outside of Terraform are listed in order.",
			plan:   &terraform.Plan{Changes: true, Drift: []string{"a.a", "b.b"}},
			want:   "0 to add, 0 to change, 0 to destroy; changed outside of Terraform: a.a, b.b",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, describe(summarize(tc.plan))); diff != "" {
				t.Errorf("\n%s\ndescribe(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSummarizeNothing(t *testing.T) {
	for _, p := range []*terraform.Plan{nil, {}} {
		if got := summarize(p); got != nil {
			t.Errorf("summarize(%v) of a plan with nothing to do: want nil, got %v", p, got)
		}
	}
}

func TestSummary(t *testing.T) {
	p := &terraform.Plan{Changes: true, Summary: terraform.Summary{Add: 1, Change: 2, Destroy: 30, Import: 4}}
	if got, want := summarize(p).Summary, "+1 ~2 -30"; got != want {
		t.Errorf("summarize(...).Summary: want %q, got %q", want, got)
	}
}

// TestShowPlanTime ensures that the time of a plan alone causes no write.
func TestShowPlanTime(t *testing.T) {
	t.Parallel()

	earlier, seen := metav1.NewTime(time.Unix(1, 0)), time.Unix(2, 0)
	status := commonv1beta1.WorkspaceObservation{Checksum: "a", LastPlanTime: &earlier}

	cases := map[string]struct {
		reason string
		before commonv1beta1.WorkspaceObservation
		synced xpv2.Condition
		at     time.Time
		want   time.Time
	}{
		"Same":      {reason: "The plan has found nothing new.", before: status, synced: xpv2.ReconcileSuccess(), at: seen, want: earlier.Time},
		"Changed":   {reason: "The rest of the status is written anyway.", before: commonv1beta1.WorkspaceObservation{LastPlanTime: &earlier}, synced: xpv2.ReconcileSuccess(), at: seen, want: seen},
		"Recovered": {reason: "Synced is written anyway.", before: status, synced: xpv2.ReconcileError(errors.New("boom")), at: seen, want: seen},
		"Now":       {reason: "The plan is that of this reconcile.", before: status, synced: xpv2.Condition{}, want: time.Unix(3, 0)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			r.now = func() time.Time { return time.Unix(3, 0) }
			r.ws.SetObservation(status)
			r.ws.SetConditions(tc.synced)

			r.showPlanTime(r.ws, tc.before, tc.at)

			if got := r.ws.GetObservation().LastPlanTime; !got.Time.Equal(tc.want) {
				t.Errorf("\n%s\nlastPlanTime: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestIsNews(t *testing.T) {
	plan := &commonv1beta1.PlanSummary{Add: 1}

	cases := map[string]struct {
		reason   string
		was      *commonv1beta1.PlanSummary
		observed int64
		want     bool
	}{
		"First":   {reason: "The first plan is new.", want: true},
		"Again":   {reason: "A plan that is not applied is made again by every observation.", was: plan, observed: 2},
		"Other":   {reason: "The plan has changed.", was: &commonv1beta1.PlanSummary{Add: 2}, observed: 2, want: true},
		"Drift":   {reason: "The last plan had no changes.", observed: 2, want: true},
		"Changed": {reason: "The plan is the first one of a changed specification.", was: plan, observed: 1, want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetGeneration(2)
			ws.SetObservation(commonv1beta1.WorkspaceObservation{Plan: tc.was})
			ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(tc.observed))

			if got := isNews(ws, plan); got != tc.want {
				t.Errorf("\n%s\nisNews(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDrifted(t *testing.T) {
	changes := &commonv1beta1.PlanSummary{Change: 1}
	past := metav1.NewTime(time.Unix(1, 0))

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		was      corev1.ConditionStatus
		seen     schedule.Observation
		want     xpv2.ConditionReason
	}{
		"ObserveOnly": {
			reason:   "A difference that will not be corrected is drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Exists: true, Plan: changes},
			want:     reasonPlanHasChanges,
		},
		"ObserveNothing": {
			reason:   "A resource that does not exist cannot drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Plan: changes},
		},
		"ObserveNoMore": {
			reason:   "A resource that had drifted and is deleted is not up to date.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Plan: changes},
			want:     reasonNothingExists,
		},
		"ObserveOnlyUpToDate": {
			reason:   "The condition ends with the drift.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Exists: true},
			want:     reasonUpToDate,
		},
		"MayUpdate": {
			reason:   "A difference that is about to be corrected is not worth a condition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll},
			seen:     schedule.Observation{Exists: true, Plan: changes},
		},
		"OtherDrift": {
			reason:   "Another plan is no transition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			was:      corev1.ConditionTrue,
			seen:     schedule.Observation{Exists: true, Plan: changes},
			want:     reasonPlanHasChanges,
		},
		"NeverDrifted": {
			reason:   "A Workspace that never drifted has no condition.",
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			seen:     schedule.Observation{Exists: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetManagementPolicies(tc.policies)

			if tc.was != "" {
				ws.SetConditions(xpv2.Condition{Type: workspace.TypeDrifted, Status: tc.was, LastTransitionTime: past})
			}

			drifted(ws, tc.seen)

			got := ws.GetCondition(workspace.TypeDrifted)
			if got.Reason != tc.want {
				t.Errorf("\n%s\ndrifted(...): want reason %q, got %q", tc.reason, tc.want, got.Reason)
			}

			if says := strings.HasSuffix(got.Message, "; not applied: spec.managementPolicies does not contain Update"); says != (got.Status == corev1.ConditionTrue) {
				t.Errorf("\n%s\ndrifted(...): want the message to say why the changes stay if they do, got %q", tc.reason, got.Message)
			}

			if stays := got.Status == tc.was; stays != got.LastTransitionTime.Equal(&past) {
				t.Errorf("\n%s\ndrifted(...): the status stays: %t, and the last transition is at %s", tc.reason, stays, got.LastTransitionTime)
			}
		})
	}
}

// TestSyncedWithoutGeneration ensures the same for Synced.
func TestSyncedWithoutGeneration(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, &clusterv1beta1.Workspace{})
	r.ws.SetConditions(xpv2.ReconcileSuccess())
	r.ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(r.ws.GetGeneration()))

	if err := (managedStatusWriter{lastWriter{}, r.kube, r.connector}).Update(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if got := r.ws.GetCondition(xpv2.TypeSynced).ObservedGeneration; got != r.ws.GetGeneration() {
		t.Errorf("want generation %d, got %d", r.ws.GetGeneration(), got)
	}
}

// TestStalled follows one Workspace through a series of failures: the time of the next try in its
// condition, the number of transitions, and the log.
func TestStalled(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	lines := []string{}
	log := logging.NewLogrLogger(funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	records := schedule.NewRecords(schedule.Policy{Interval: time.Hour}, func() time.Time { return now })

	c := &connector{records: records, log: log}

	ws := with()
	ws.SetName("a")
	records.Begin(ws)

	fail := func() xpv2.Condition {
		c.recordFailure(ws, errors.New("no such region"))

		return ws.GetCondition(workspace.TypeStalled)
	}
	message := func(n, at string) string {
		return "Failed " + n + " times; next try " + at + ". Cause: no such region"
	}

	for range 4 {
		if got := fail(); got.Status != corev1.ConditionUnknown {
			t.Errorf("after a few failures: want no condition, got %v", got)
		}
	}

	stalled := fail()
	if diff := cmp.Diff(message("5", "02:04:53Z"), stalled.Message); diff != "" {
		t.Errorf("message of a Workspace that has stalled: -want, +got:\n%s", diff)
	}

	// The failure happened some time ago.
	past := metav1.NewTime(now.Add(-time.Hour))
	stalled.LastTransitionTime = past
	ws.Status.Conditions = []xpv2.Condition{stalled}

	again := fail()
	if diff := cmp.Diff(message("6", "02:05:52Z"), again.Message); diff != "" {
		t.Errorf("message after another failure: -want, +got:\n%s", diff)
	}

	if !again.LastTransitionTime.Equal(&past) {
		t.Errorf("another failure is no transition: want one at %s, got %s", past, again.LastTransitionTime)
	}

	c.succeeded(ws)

	if got := ws.GetCondition(workspace.TypeStalled); got.Status != corev1.ConditionFalse || got.LastTransitionTime.Equal(&past) {
		t.Errorf("after a success: want condition False as of now, got %v", got)
	}

	c.succeeded(ws)

	want := []string{
		`"level"=0 "msg"="Workspace is stalled: it keeps failing, and is tried less often" "uid"="a" "namespace"="" "name"="a" "error"="no such region" "next-try"="2026-01-02T02:04:53Z"`,
		`"level"=0 "msg"="Workspace is not stalled any more" "uid"="a" "namespace"="" "name"="a"`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

// TestStalledCause ensures that people see that a long cause was cut.
func TestStalledCause(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	for range 5 {
		r.recordFailure(r.ws, errors.New(strings.Repeat("a", 201)))
	}

	if got, want := r.ws.GetCondition(workspace.TypeStalled).Message, "Cause: "+strings.Repeat("a", 197)+"..."; !strings.HasSuffix(got, want) {
		t.Errorf("message of the condition: want the end %q, got %q", want, got)
	}
}

// TestNotStalledAfterChange ensures that a Workspace that a person has changed is not stalled,
// even if the change has failed, too.
func TestNotStalledAfterChange(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())

	for range 5 {
		r.recordFailure(r.ws, errors.New("boom"))
	}

	r.ws.SetGeneration(2)
	r.recordFailure(r.ws, errors.New("boom"))

	c := r.ws.GetCondition(workspace.TypeStalled)
	if diff := cmp.Diff([]any{corev1.ConditionFalse, reasonRetried, int64(2)}, []any{c.Status, c.Reason, c.ObservedGeneration}); diff != "" {
		t.Errorf("condition: -want, +got:\n%s", diff)
	}
}

// TestRepeatedFailure ensures that failures are counted regardless of the management policies, although
// each reconcile begins with an observation that succeeds.
func TestRepeatedFailure(t *testing.T) {
	t.Parallel()

	boom := &terraform.Error{ExitCode: 1}
	create := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{Changes: true}, terraform.State{})
		r.runner.applyErr = boom

		return r.reconcileOnce(ctx, func() error {
			_, err := r.Create(ctx, r.ws)

			return err
		})
	}
	destroy := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{}, ownState())
		r.runner.destroyErr = boom

		return r.reconcileOnce(ctx, func() error {
			_, err := r.Delete(ctx, r.ws)

			return err
		})
	}
	idle := func(ctx context.Context, r *attempt) error {
		r.planned(terraform.Plan{Changes: true}, terraform.State{})
		r.recordFailure(r.ws, boom)

		return r.reconcileOnce(ctx, func() error { return boom })
	}

	const (
		observe = xpv2.ManagementActionObserve
		creates = xpv2.ManagementActionCreate
		deletes = xpv2.ManagementActionDelete
	)

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		do     func(ctx context.Context, r *attempt) error
		want   int
	}{
		"Create":            {reason: "Every policy is allowed.", ws: with(), do: create, want: 2},
		"CreateNoUpdate":    {reason: "A missing resource is created without the right to update it.", ws: with(policies(observe, creates)), do: create, want: 2},
		"Delete":            {reason: "Every policy is allowed.", ws: with(owner, deleted), do: destroy, want: 2},
		"DeleteNoUpdate":    {reason: "Resources are destroyed without the right to update them.", ws: with(owner, deleted, policies(observe, creates, deletes)), do: destroy, want: 2},
		"DeleteNeverCreate": {reason: "Nor the right to create them.", ws: with(owner, deleted, policies(observe, deletes)), do: destroy, want: 2},
		"OnlyObserves":      {reason: "Nothing follows: the observation is the end of the reconcile.", ws: with(policies(observe)), do: idle},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)

			for range 2 {
				if err := tc.do(t.Context(), r); err == nil {
					t.Fatal("want a failure")
				}
			}

			if got := r.records.Get(r.ws).Failures.Count; got != tc.want {
				t.Errorf("%s\nwant %d failures in a row, got %d", tc.reason, tc.want, got)
			}
		})
	}
}

// reconcileOnce observes as the managed reconciler does, and then calls next.
func (r *attempt) reconcileOnce(ctx context.Context, next func() error) error {
	if err := r.observeInConnect(ctx, r.ws); err != nil {
		return err
	}

	if _, err := r.Observe(ctx, r.ws); err != nil {
		return err
	}

	return next()
}

// TestWarned ensures that warnings are not told at every plan.
func TestWarned(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		warnings []string
		want     []string
	}{
		"Same":   {reason: "The status has both.", warnings: []string{"a", "b"}},
		"Fewer":  {reason: "One has gone.", warnings: []string{"b"}},
		"None":   {reason: "Nothing is to be told."},
		"Other":  {reason: "One is new.", warnings: []string{"b", "c"}, want: []string{"b; c"}},
		"Counts": {reason: "There are more than the status shows.", warnings: []string{"a", "b", "and 1 more"}, want: []string{"a; b; and 1 more"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := with()
			ws.SetObservation(commonv1beta1.WorkspaceObservation{Warnings: []string{"a", "b"}})

			var got []string

			warned(recorderFunc(func(e event.Event) { got = append(got, e.Message) }), ws, tc.warnings)

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwarned(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
