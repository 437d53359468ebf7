// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// observed makes an attempt go on after Observe has made the supplied plan.
func (r *attempt) observed(t *testing.T, p terraform.Plan, s terraform.State) {
	t.Helper()
	r.planned(p, s)

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	r.runner.ran, r.events.reasons = nil, nil
}

// unreadable returns outputs that no status can show. A name contains a secret.
func unreadable() map[string]terraform.Output {
	return map[string]terraform.Output{"sesame-sesame": {Value: []byte("{")}}
}

// expectRecorded fails the test unless the result of a call that returned err was recorded: as one
// failure, or as a success.
func (r *attempt) expectRecorded(t *testing.T, reason string, err error) {
	t.Helper()

	type result struct {
		Failures int
		Ready    bool
	}

	want := result{Failures: 1}

	if err == nil {
		want = result{Ready: true}

		r.succeed(t)
	}

	got := result{Failures: r.records.Get(r.ws).Failures.Count, Ready: slices.Contains(*r.counts, "test ready")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\n%s\nrecorded failures, metric: -want, +got:\n%s", reason, diff)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()

	blank := terraform.State{Lineage: ownLineage, Serial: 1}
	local := runner.StatePlace{OnDisk: true, InWorkdir: true}

	cases := map[string]struct {
		reason string
		prior  terraform.State
		others []client.Object
		change func(r *attempt)
		want   outcome
	}{
		"Created": {
			reason: "The infrastructure is complete. The lineage of the new state is read.",
			change: func(*attempt) {},
			want:   outcome{ran: []string{"apply", "state pull"}, ready: xpv2.ReasonAvailable, begun: true, succeeded: true},
		},
		"CreatedUnread": {
			reason: "The infrastructure is complete, and the next observation reads the lineage.",
			change: func(r *attempt) { r.runner.stateErr = errors.New("boom") },
			want:   outcome{ran: []string{"apply", "state pull"}, ready: xpv2.ReasonAvailable, begun: true, succeeded: true},
		},
		"CreatedInEmptyState": {
			reason: "The plan was made from the state of the Workspace.",
			prior:  blank,
			change: func(*attempt) {},
			want:   outcome{ran: []string{"apply"}, ready: xpv2.ReasonAvailable, lineage: ownLineage, begun: true, succeeded: true},
		},
		"NotRecorded": {
			reason: "Nothing is created unless it is recorded that creation begins.",
			change: func(r *attempt) { r.maxWrites = 0 },
			want:   outcome{err: "cannot record that creation begins", ready: xpv2.ReasonCreating},
		},
		"NoRunRecord": {
			reason: "Nor unless the run record says so.",
			change: func(r *attempt) { r.runner.recordErr = errors.New("disk full") },
			want:   outcome{err: "disk full"},
		},
		"Failed": {
			reason: "Something may exist: the creation has begun.",
			change: func(r *attempt) { r.runner.applyErr = &terraform.Error{ExitCode: 1} },
			want:   outcome{ran: []string{"apply", "state pull"}, err: "ended with", ready: xpv2.ReasonCreating, begun: true},
		},
		"FailedWithNothing": {
			reason: "On a disk that is not lost, an empty state proves that nothing was created.",
			change: func(r *attempt) {
				r.runner.place = local
				r.runner.applyErr = &terraform.Error{ExitCode: 1}
			},
			want: outcome{ran: []string{"apply", "state pull"}, err: "ended with", ready: xpv2.ReasonCreating},
		},
		"FailedToSave": {
			reason: "The state on the disk is not what was created.",
			change: func(r *attempt) {
				r.runner.place = local
				r.runner.applyErr = &terraform.Error{ExitCode: 1, Diagnostics: []terraform.Diagnostic{{Summary: "Failed to save state"}}}
			},
			want: outcome{ran: []string{"apply"}, err: "ended with", ready: xpv2.ReasonCreating, begun: true},
		},
		"Killed": {
			reason: "A killed CLI may have created something that is in no state.",
			change: func(r *attempt) {
				r.runner.place = local
				r.runner.applyErr = &terraform.Error{ExitCode: -1}
			},
			want: outcome{ran: []string{"apply"}, err: "ended with", ready: xpv2.ReasonCreating, begun: true},
		},
		"Locked": {
			reason: "Another process creates something in this state, which does not belong to this Workspace.",
			change: func(r *attempt) { r.runner.applyErr = lockedBy("alice@laptop", time.Now()) },
			want:   outcome{ran: []string{"apply"}, err: "left alone", ready: xpv2.ReasonCreating},
		},
		"Taken": {
			reason: "Another process was faster.",
			change: func(r *attempt) { r.runner.applyErr = runner.ErrStateTaken },
			want:   outcome{ran: []string{"apply"}, err: "another process has created the state", ready: xpv2.ReasonCreating},
		},
		"Replaced": {
			reason: "The state that the apply finds is that of another Workspace.",
			change: func(r *attempt) { s := otherState(); r.runner.stale = &terraform.Plan{Prior: &s} },
			want:   outcome{ran: []string{"apply"}, err: "another state than before", ready: xpv2.ReasonCreating, begun: true},
		},
		"PlansAgain": {
			reason: "An apply that makes its own plan does not notice that the state has another owner now.",
			prior:  blank,
			others: []client.Object{anotherOwner(ownLineage)},
			change: func(r *attempt) { r.runner.remakes = true },
			want:   outcome{err: `belongs to the Workspace "ns/other"`, ready: xpv2.ReasonCreating},
		},
		"PlansAgainAlone": {
			reason: "Between its own plan and that of the apply, another Workspace may have applied to the state.",
			prior:  blank,
			change: func(r *attempt) { r.runner.remakes = true },
			want:   outcome{ran: []string{"apply"}, ready: xpv2.ReasonAvailable, begun: true, succeeded: true},
		},
		"PlansAgainInNone": {
			reason: "There was no state at the plan, and there is none yet.",
			change: func(r *attempt) { r.runner.remakes = true },
			want:   outcome{ran: []string{"state pull", "apply", "state pull"}, ready: xpv2.ReasonAvailable, begun: true, succeeded: true},
		},
		"PlansAgainInOther": {
			reason: "Another process has made the state since the plan.",
			change: func(r *attempt) { s := otherState(); r.runner.remakes, r.runner.latest = true, &s },
			want:   outcome{ran: []string{"state pull"}, err: "another process has created the state", ready: xpv2.ReasonCreating},
		},
		"PlansAgainUnread": {
			reason: "Nothing is created if it is not known whether there is a state.",
			change: func(r *attempt) { r.runner.remakes, r.runner.stateErr = true, errors.New("boom") },
			want:   outcome{ran: []string{"state pull"}, err: "boom", ready: xpv2.ReasonCreating},
		},
		"Sensitive": {
			reason: "The CLI does not print sensitive outputs: they are in the state.",
			change: func(r *attempt) {
				r.runner.applied = &terraform.Applied{Outputs: map[string]terraform.Output{"a": {Sensitive: true}}}
			},
			want: outcome{ran: []string{"apply", "state pull"}, ready: xpv2.ReasonAvailable, begun: true, succeeded: true},
		},
		"NotReported": {
			reason: "The status cannot show what was created. No secret is in the error.",
			prior:  blank,
			change: func(r *attempt) { r.runner.applied.Outputs = unreadable() },
			want:   outcome{ran: []string{"apply"}, err: `cannot read output "(sensitive)"`, ready: xpv2.ReasonCreating, begun: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(), tc.others...)
			r.runner.applied = &terraform.Applied{Outputs: map[string]terraform.Output{}}
			r.observed(t, changes(), tc.prior)
			tc.change(r)

			_, err := r.Create(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)
			r.expectRecorded(t, tc.reason, err)

			// The status, which another instance would read, says the same after a failure. The
			// managed reconciler writes it after a success.
			if err != nil && r.maxWrites > 0 && r.runner.recordErr == nil {
				if diff := cmp.Diff(r.ws.GetOwnership(), r.recorded(t).GetOwnership()); diff != "" {
					t.Errorf("\n%s\nownership: -here, +recorded:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()

	drift := changes()
	drift.Drift = []string{"a.b"}
	recorded := drift
	drift.CorrectsDrift = true

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		plan   terraform.Plan
		prior  terraform.State
		change func(r *attempt)
		want   outcome
	}{
		"Updated": {
			reason: "The infrastructure matches the specification.",
			ws:     with(owner),
			plan:   changes(),
			prior:  ownState(),
			change: func(*attempt) {},
			want:   outcome{ran: []string{"apply"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Drift": {
			reason: "An Event tells people that their change is reverted.",
			ws:     with(owner),
			plan:   drift,
			prior:  ownState(),
			change: func(*attempt) {},
			want:   outcome{ran: []string{"apply"}, events: []string{"DetectedDrift"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"DriftRecorded": {
			reason: "What changes by itself, and is not changed back, is no news.",
			ws:     with(owner),
			plan:   recorded,
			prior:  ownState(),
			change: func(*attempt) {},
			want:   outcome{ran: []string{"apply"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Nothing": {
			reason: "Nothing exists to update, and nothing may be created.",
			ws:     with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)),
			plan:   changes(),
			change: func(*attempt) {},
			want:   outcome{err: "there is nothing to update"},
		},
		"NothingAndMoved": {
			reason: "Another instance serves the Workspace from now on, so that the record of it is gone.",
			ws:     with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)),
			plan:   changes(),
			change: func(r *attempt) { r.records.ForgetObservation(r.ws) },
			want:   outcome{err: "there is nothing to update"},
		},
		"Failed": {
			reason: "A part of it may exist.",
			ws:     with(owner, readyFor(1)),
			plan:   changes(),
			prior:  ownState(),
			change: func(r *attempt) { r.runner.applyErr = errors.New("boom") },
			want:   outcome{ran: []string{"apply"}, err: "boom", ready: xpv2.ReasonUnavailable, lineage: ownLineage},
		},
		"Locked": {
			reason: "Nothing was applied.",
			ws:     with(owner, readyFor(1)),
			plan:   changes(),
			prior:  ownState(),
			change: func(r *attempt) { r.runner.applyErr = lockedBy("alice@laptop", time.Now()) },
			want:   outcome{ran: []string{"apply"}, err: "left alone", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Lost": {
			reason: "The state was deleted after the plan.",
			ws:     with(owner, readyFor(1)),
			plan:   changes(),
			prior:  ownState(),
			change: func(r *attempt) { r.runner.stale = &terraform.Plan{Prior: &terraform.State{}} },
			want:   outcome{ran: []string{"apply"}, err: "is gone", ready: xpv2.ReasonUnavailable, lineage: ownLineage},
		},
		"NotSaved": {
			reason: "A run that could not save its state saves it as soon as it can.",
			ws:     with(owner),
			plan:   changes(),
			prior:  ownState(),
			change: func(r *attempt) {
				r.runner.applyErr, r.runner.unsaved = errors.New("boom"), "/errored.tfstate"
				r.Runs.Stop = t.Context()
			},
			want: outcome{ran: []string{"apply", "state push"}, events: []string{"SavedState"}, err: "boom", ready: xpv2.ReasonUnavailable, lineage: ownLineage},
		},
		"NotReported": {
			reason: "The status cannot show what was applied. No secret is in the error.",
			ws:     with(owner),
			plan:   changes(),
			prior:  ownState(),
			change: func(r *attempt) { r.runner.applied.Outputs = unreadable() },
			want:   outcome{ran: []string{"apply"}, err: `cannot read output "(sensitive)"`, lineage: ownLineage},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.runner.applied = &terraform.Applied{Outputs: map[string]terraform.Output{}}
			r.observed(t, tc.plan, tc.prior)
			tc.change(r)

			_, err := r.Update(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)
			r.expectRecorded(t, tc.reason, err)
		})
	}
}

// TestAppliedUnread has an apply whose result cannot be read. What it has done is told, and not told twice.
func TestAppliedUnread(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner))
	r.observed(t, changes(), ownState())
	r.runner.applied, r.runner.stateErr = &terraform.Applied{}, errors.New("boom") // No outputs: the state has them.

	if _, err := r.Update(t.Context(), r.ws); err == nil {
		t.Error("Update(...): want an error, got none")
	}

	if n := len(r.events.ends); n != 1 {
		t.Errorf("want one Event about what was applied, got %q", r.events.ends)
	}
}

// TestUnrecordedCreation has an API server that does not record that a creation begins. Nothing
// is created. An earlier creation began on the same disk.
func TestUnrecordedCreation(t *testing.T) {
	t.Parallel()

	earlier := &metav1.Time{Time: time.Now().Add(-time.Hour).Truncate(time.Second)}
	r := newAttempt(t, with(func(ws *clusterv1beta1.Workspace) {
		ws.SetOwnership(commonv1beta1.Ownership{UID: "a", CreationStarted: earlier})
	}))
	r.runner.record = &runner.RunRecord{CreationStarted: earlier}
	r.applier.plan = new(changes())
	r.applier.plan.Prior = &terraform.State{}
	r.maxWrites = 0

	// Several attempts in a row may fail in this way.
	for range 2 {
		if _, err := r.Create(t.Context(), r.ws); err == nil || len(r.runner.ran) > 0 {
			t.Errorf("want the creation to fail without a run, got %v", r.runner.ran)
		}

		r.ws.SetOwnership(r.recorded(t).GetOwnership())

		// A disk that records a creation which has not begun is harmless. The reverse would block the
		// creation.
		status, disk := r.ws.GetOwnership().CreationStarted, r.runner.record.CreationStarted
		if !status.Equal(earlier) || !earlier.Before(disk) {
			t.Errorf("want the creation on the disk only, got %s in the status, %s on the disk", status, disk)
		}

		if here, err := r.planner.guard.beganHere(r.ws); err != nil || !here {
			t.Errorf("want the earlier creation to have begun on this disk, got %t and error %v", here, err)
		}
	}
}

// TestReportFailed ensures that the status shows what a failed apply has left, and nothing that may be the
// work of another process.
func TestReportFailed(t *testing.T) {
	t.Parallel()

	half := terraform.State{Lineage: ownLineage, Serial: 4, Managed: 3, Outputs: map[string]terraform.Output{"o": {Value: []byte("1")}}}
	foreign := otherState()

	cases := map[string]struct {
		reason string
		left   *terraform.State
		err    error
		want   int
	}{
		"HalfWay":  {reason: "One resource was created.", left: &half, err: &terraform.Error{ExitCode: 1}, want: 3},
		"Foreign":  {reason: "Another process has replaced the state.", left: &foreign, err: &terraform.Error{ExitCode: 1}, want: 2},
		"Killed":   {reason: "The state may lack what was created last.", left: &half, err: &terraform.Error{ExitCode: -1}, want: 2},
		"NotSaved": {reason: "So it may here.", left: &half, err: &terraform.Error{ExitCode: 1, Diagnostics: []terraform.Diagnostic{{Summary: "Failed to save state"}}}, want: 2},
		"NoRun":    {reason: "Nothing was applied.", left: &half, err: errors.New("boom"), want: 2},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			r.observed(t, changes(), ownState())
			r.runner.applyErr, r.runner.latest = tc.err, tc.left

			if _, err := r.Update(t.Context(), r.ws); !errors.Is(err, tc.err) {
				t.Errorf("\n%s\nUpdate(...): want %v, got %v", tc.reason, tc.err, err)
			}

			o := r.ws.GetObservation()
			if o.State.Resources != tc.want || (len(o.Outputs) > 0) != (tc.want == 3) {
				t.Errorf("\n%s\nwant %d resources in the status, got %d and the outputs %v", tc.reason, tc.want, o.State.Resources, o.Outputs)
			}
		})
	}
}

// TestOwnLeft ensures that a Workspace owns what its first apply has left, and nothing that may be the work of another one.
func TestOwnLeft(t *testing.T) {
	t.Parallel()

	// creating has a state in the same Terraform workspace, perhaps in another backend.
	creating := func() client.Object {
		ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other", UID: "b"}}
		meta.SetExternalName(ws, "ws")
		workspace.BeginCreation(ws, commonv1beta1.StateSummary{}, time.Now().Add(-time.Hour))

		return ws
	}

	cases := map[string]struct {
		reason string
		prior  terraform.State
		left   *terraform.State
		place  runner.StatePlace
		others []client.Object
		want   string
	}{
		"Alone":   {reason: "No other Workspace can have made the state.", left: new(ownState()), want: ownLineage},
		"Locked":  {reason: "No other one could apply at the same time.", left: new(ownState()), place: runner.StatePlace{Locked: true}, others: []client.Object{creating()}, want: ownLineage},
		"NoLock":  {reason: "The other one could.", left: new(ownState()), others: []client.Object{creating()}},
		"Other":   {reason: "It is that of the other one.", left: new(ownState()), place: runner.StatePlace{Locked: true}, others: []client.Object{anotherOwner(ownLineage)}},
		"Before":  {reason: "There was a state before.", prior: otherState(), left: new(ownState()), place: runner.StatePlace{Locked: true}},
		"Nothing": {reason: "There is nothing in it.", left: &terraform.State{Lineage: ownLineage, Serial: 1}, place: runner.StatePlace{Locked: true}},
		"Unread":  {reason: "What is left is not known.", place: runner.StatePlace{Locked: true}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(begun), tc.others...)
			r.runner.place = tc.place
			r.applier.plan, r.left = &terraform.Plan{Prior: &tc.prior}, tc.left

			r.ownLeft(t.Context(), r.ws)

			if got := r.ws.GetOwnership().Lineage; got != tc.want {
				t.Errorf("%s: want the lineage %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
