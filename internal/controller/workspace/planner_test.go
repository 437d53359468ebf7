// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// creates is a Workspace that has begun to create its resources in the other state.
func creates(ws *clusterv1beta1.Workspace) {
	workspace.BeginCreation(ws, commonv1beta1.StateSummary{Lineage: otherLineage, Serial: 1}, time.Now())
}

// anotherCreatingThere is another Workspace that has begun to create its resources in the other
// state.
func anotherCreatingThere() client.Object {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other", UID: "b"}}
	meta.SetExternalName(ws, "ws")
	workspace.BeginCreation(ws, commonv1beta1.StateSummary{Lineage: otherLineage, Serial: 1}, time.Now())

	return ws
}

// anotherCreatingSomewhere is another Workspace that has begun before all others. Its status does not
// name the state.
func anotherCreatingSomewhere() client.Object {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other", UID: "b"}}
	meta.SetExternalName(ws, "ws")
	workspace.BeginCreation(ws, commonv1beta1.StateSummary{}, time.Now().Add(-time.Hour))

	return ws
}

func TestObserve(t *testing.T) {
	t.Parallel()

	drift := terraform.Plan{Changes: true, Summary: terraform.Summary{Change: 1}, Drift: []string{"a.b"}}
	observed := policies(xpv2.ManagementActionObserve)

	cases := map[string]struct {
		reason   string
		ws       *clusterv1beta1.Workspace
		others   []client.Object
		change   func(r *attempt)
		exists   bool
		upToDate bool
		want     outcome
	}{
		"UpToDate": {
			reason:   "The plan has no changes.",
			ws:       with(owner),
			change:   func(r *attempt) { r.planned(terraform.Plan{}, ownState()) },
			exists:   true,
			upToDate: true,
			want:     outcome{ran: []string{"plan"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"New": {
			reason: "There is no state.",
			ws:     with(),
			change: func(r *attempt) { r.planned(changes(), terraform.State{}) },
			want:   outcome{ran: []string{"plan"}},
		},
		"Nothing": {
			reason:   "A module that has nothing to create is complete.",
			ws:       with(),
			change:   func(r *attempt) { r.planned(terraform.Plan{}, terraform.State{}) },
			exists:   true,
			upToDate: true,
			want:     outcome{ran: []string{"plan"}, ready: xpv2.ReasonAvailable},
		},
		"Drift": {
			reason: "The infrastructure was changed.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) { r.planned(drift, ownState()) },
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"EmptyModule": {
			reason: "A template was rendered to nothing. Everything would be destroyed.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, Summary: terraform.Summary{Destroy: 1}}, ownState())
				r.runner.emptyModule = true
			},
			want: outcome{ran: []string{"plan"}, err: "spec.forProvider.module has no block", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"EmptyModuleWithoutSummary": {
			reason: "Nor does a backend that plans elsewhere say what would be destroyed.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, NoSummary: true}, ownState())
				r.runner.emptyModule = true
			},
			want: outcome{ran: []string{"plan"}, err: "spec.forProvider.module has no block, so that the plan would destroy 2 resources", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"ResourcesOfConfigWithoutSummary": {
			reason: "There may be something else.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, NoSummary: true}, ownState())
				r.runner.emptyModule, r.runner.configResources = true, true
			},
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"UnreadFile": {
			reason: "The CLI does not read a file with resources.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, Summary: terraform.Summary{Destroy: 1, Change: 1}}, ownState())
				r.runner.unread = errors.New("main.tofu is not read")
			},
			want: outcome{ran: []string{"plan"}, err: "main.tofu is not read", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"EmptyModuleBesideResources": {
			reason: "The ProviderConfig has resources.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, Summary: terraform.Summary{Destroy: 1, Change: 1}}, ownState())
				r.runner.emptyModule = true
			},
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"EmptyModuleWithOutputs": {
			reason: "Nothing would be destroyed.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true}, ownState())
				r.runner.emptyModule = true
			},
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"EmptyModuleOfObserver": {
			reason: "Nothing would be destroyed.",
			ws:     with(owner, readyFor(1), observed),
			change: func(r *attempt) {
				r.planned(terraform.Plan{Changes: true, Summary: terraform.Summary{Destroy: 1}}, ownState())
				r.runner.emptyModule = true
			},
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"Lost": {
			reason: "The state is missing, and everything would be created again.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) { r.planned(changes(), terraform.State{}) },
			want:   outcome{ran: []string{"plan"}, err: "is gone", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"OldCopyThatFits": {
			reason: "The module fits an old copy. What the copy lacks would be created again later.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{}, terraform.State{Lineage: ownLineage, Serial: 3, Managed: 1})
			},
			want: outcome{ran: []string{"plan"}, err: "is an old copy", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"OldCopyWithAll": {
			reason: "It lacks nothing.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				r.planned(terraform.Plan{}, terraform.State{Lineage: ownLineage, Serial: 2, Managed: 2})
			},
			exists:   true,
			upToDate: true,
			want:     outcome{ran: []string{"plan"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"LostDuringPlan": {
			reason: "The CLI read the state, and then no state: it plans with the resources of the first, and without a lineage.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) {
				s := ownState()
				s.Lineage, s.Serial = "", 0
				r.planned(terraform.Plan{}, s)
			},
			want: outcome{ran: []string{"plan"}, err: "is gone", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"LostWithModule": {
			reason: "The state is missing, and the module has no resources any more: what was created would be forgotten.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) { r.planned(terraform.Plan{}, terraform.State{}) },
			want:   outcome{ran: []string{"plan"}, err: "is gone", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"OtherWithoutChanges": {
			reason: "Another state fits the module. To take it over would forget what is in the own one.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) { r.planned(terraform.Plan{}, otherState()) },
			want:   outcome{ran: []string{"plan"}, err: "is another one", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"LostDisk": {
			reason: "Creation began on a disk that is not here.",
			ws:     with(begun),
			change: func(r *attempt) {
				r.runner.place = runner.StatePlace{OnDisk: true, InWorkdir: true}
				r.planned(changes(), terraform.State{})
			},
			want: outcome{ran: []string{"plan"}, err: "the disk of the instance", begun: true},
		},
		"SameDisk": {
			reason: "Creation began here and continues.",
			ws:     with(begun),
			change: func(r *attempt) {
				r.runner.place = runner.StatePlace{OnDisk: true, InWorkdir: true}
				r.runner.record = &runner.RunRecord{CreationStarted: r.ws.GetOwnership().CreationStarted}
				r.planned(changes(), terraform.State{})
			},
			want: outcome{ran: []string{"plan"}, begun: true},
		},
		"Foreign": {
			reason: "The state belongs to another Workspace.",
			ws:     with(),
			others: []client.Object{anotherOwner(otherLineage)},
			change: func(r *attempt) { r.planned(changes(), otherState()) },
			want:   outcome{ran: []string{"plan"}, err: `belongs to the Workspace "ns/other"`},
		},
		"TakenOver": {
			reason: "The state belongs to no Workspace.",
			ws:     with(),
			change: func(r *attempt) { r.planned(changes(), otherState()) },
			exists: true,
			want:   outcome{ran: []string{"plan", "state pull"}, events: []string{"TookOverState", "PlannedChanges"}, lineage: otherLineage, begun: true},
		},
		"OnDisk": {
			reason: "It has created what is in the state, in its own directory. No other Workspace is asked.",
			ws:     with(begun),
			others: []client.Object{anotherCreatingSomewhere()},
			change: func(r *attempt) {
				r.runner.place = runner.StatePlace{OnDisk: true, InWorkdir: true}
				r.runner.record = &runner.RunRecord{CreationStarted: r.ws.GetOwnership().CreationStarted}
				r.planned(terraform.Plan{}, ownState())
			},
			exists:   true,
			upToDate: true,
			want:     outcome{ran: []string{"plan"}, ready: xpv2.ReasonAvailable, lineage: ownLineage, begun: true, succeeded: true},
		},
		"CopiedToDisk": {
			reason: "The state of another Workspace was copied into the directory.",
			ws:     with(),
			others: []client.Object{anotherOwner(otherLineage)},
			change: func(r *attempt) {
				r.runner.place = runner.StatePlace{OnDisk: true, InWorkdir: true}
				r.planned(terraform.Plan{}, otherState())
			},
			want: outcome{ran: []string{"plan"}, err: `belongs to the Workspace "ns/other"`},
		},
		"CopiedToOwnDisk": {
			reason: "This Workspace has created something there, but another state.",
			ws:     with(begun, owner),
			others: []client.Object{anotherOwner(otherLineage)},
			change: func(r *attempt) {
				meta.AddAnnotations(r.ws, map[string]string{workspace.AcceptLostStateAnnotationKey: ownLineage})
				r.runner.place = runner.StatePlace{OnDisk: true, InWorkdir: true}
				r.runner.record = &runner.RunRecord{CreationStarted: r.ws.GetOwnership().CreationStarted}
				r.planned(terraform.Plan{}, otherState())
			},
			want: outcome{ran: []string{"plan"}, err: `belongs to the Workspace "ns/other"`, lineage: ownLineage, begun: true},
		},
		"DestroyedMeanwhile": {
			reason: "Its owner has destroyed everything since the plan, and is gone.",
			ws:     with(),
			change: func(r *attempt) {
				r.planned(terraform.Plan{}, otherState())
				r.runner.latest = &terraform.State{}
			},
			want: outcome{ran: []string{"plan", "state pull"}, err: "has changed since it was planned"},
		},
		"Undecided": {
			reason: "Another one has begun in the same empty state: it may have created what is in it.",
			ws:     with(creates),
			others: []client.Object{anotherCreatingThere()},
			change: func(r *attempt) { r.planned(changes(), otherState()) },
			want:   outcome{ran: []string{"plan"}, err: `may have been created by the Workspace "ns/other" of tf.m.upbound.io`, begun: true},
		},
		"Uncertain": {
			reason: "Another one has begun first, perhaps in another state: what this one has begun is still recorded.",
			ws:     with(creates),
			others: []client.Object{anotherCreatingSomewhere()},
			change: func(r *attempt) { r.planned(changes(), otherState()) },
			want:   outcome{ran: []string{"plan"}, err: `may belong to the Workspace "ns/other"`, begun: true},
		},
		"NotRecorded": {
			reason: "Nothing is taken over unless it is recorded.",
			ws:     with(),
			change: func(r *attempt) {
				r.maxWrites = 0
				r.planned(changes(), otherState())
			},
			want: outcome{ran: []string{"plan", "state pull"}, err: "cannot record", begun: true},
		},
		"Failed": {
			reason: "The infrastructure is still that of the specification.",
			ws:     with(owner, readyFor(1)),
			change: func(r *attempt) { r.runner.planErr = errors.New("boom") },
			want:   outcome{ran: []string{"plan"}, err: "boom", ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"FailedAfterChange": {
			reason: "The infrastructure is not that of the specification.",
			ws:     with(owner, readyFor(7)),
			change: func(r *attempt) { r.runner.planErr = errors.New("boom") },
			want:   outcome{ran: []string{"plan"}, err: "boom", ready: xpv2.ReasonUnavailable, lineage: ownLineage},
		},
		"Secret": {
			reason: "No secret is in an error.",
			ws:     with(owner),
			change: func(r *attempt) { r.runner.planErr = errors.New("bad sesame-sesame") },
			want:   outcome{ran: []string{"plan"}, err: "bad (sensitive)", lineage: ownLineage},
		},
		"Locked": {
			reason: "The lock of a person stays.",
			ws:     with(owner),
			change: func(r *attempt) { r.runner.planErr = lockedBy("alice@laptop", time.Now()) },
			want:   outcome{ran: []string{"plan"}, err: "left alone", lineage: ownLineage},
		},
		"Unsaved": {
			reason: "A state that a run could not save is saved first.",
			ws:     with(owner),
			change: func(r *attempt) {
				r.runner.unsaved, r.runner.record = "/errored.tfstate", &runner.RunRecord{StateSummary: summarizeState(new(ownState()))}
				r.planned(terraform.Plan{}, ownState())
			},
			exists:   true,
			upToDate: true,
			want:     outcome{ran: []string{"state push", "plan"}, events: []string{"SavedState"}, ready: xpv2.ReasonAvailable, lineage: ownLineage},
		},
		"NotSaved": {
			reason: "Without the unsaved state, everything in it would be created again.",
			ws:     with(owner),
			change: func(r *attempt) {
				r.runner.unsaved, r.runner.record = "/errored.tfstate", &runner.RunRecord{StateSummary: summarizeState(new(ownState()))}
				r.runner.pushErr = errors.New("boom")
			},
			want: outcome{ran: []string{"state push"}, err: "cannot save the state", lineage: ownLineage},
		},
		"Observed": {
			reason: "A Workspace that only observes owns nothing and needs no ownership.",
			ws:     with(observed),
			others: []client.Object{anotherOwner(otherLineage)},
			change: func(r *attempt) { r.planned(drift, otherState()) },
			exists: true,
			want:   outcome{ran: []string{"plan"}, events: []string{"PlannedChanges"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws, tc.others...)
			tc.change(r)

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			o, err := r.Observe(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			if diff := cmp.Diff([]bool{tc.exists, tc.upToDate}, []bool{o.ResourceExists, o.ResourceUpToDate}); diff != "" {
				t.Errorf("\n%s\nexists, is up to date: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserveUnprepared ensures that a failure before the CLI can plan is a failure of Connect:
// people have alerts for its reason.
func TestObserveUnprepared(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner))
	r.runner.planErr = errors.Wrap(runner.UnpreparedError{Cause: errors.New("no such registry: sesame-sesame")}, "cannot initialize")
	r.runner.closeErr = errors.New("disk full")

	err := r.observeInConnect(t.Context(), r.ws)
	if err == nil {
		t.Fatal("want an error")
	}

	if diff := cmp.Diff("[cannot initialize: no such registry: (sensitive), disk full]", err.Error()); diff != "" {
		t.Errorf("error of Connect: -want, +got:\n%s", diff)
	}
}

// TestObserveAgain ensures that nothing runs while the last plan is valid.
func TestObserveAgain(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(r *attempt)
		want   []string
	}{
		"Same":    {reason: "Nothing has changed.", change: func(*attempt) {}, want: []string{"plan"}},
		"Changed": {reason: "A person has changed it.", change: func(r *attempt) { r.ws.SetGeneration(2) }, want: []string{"plan", "plan"}},
		"Missing": {reason: "An input is missing now.", change: func(r *attempt) { r.runner.incomplete = errors.New("boom") }, want: []string{"plan", "plan"}},
		"Due":     {reason: "It is time to detect drift.", change: func(r *attempt) { r.now = func() time.Time { return time.Now().Add(3 * time.Hour) } }, want: []string{"plan", "plan"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			r.planned(terraform.Plan{}, ownState())

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			tc.change(r)

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, r.runner.ran); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObserveWithoutSlot ensures that a drift waits without an Event, an error or a success.
func TestObserveWithoutSlot(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner, readyFor(1)))
	s := ownState()
	s.Outputs = map[string]terraform.Output{"large": {Value: []byte(`"` + strings.Repeat("a", maxObject) + `"`)}}
	r.planned(changes(), s)
	r.slots.Acquire(reconcile.Request{})

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	o, err := r.Observe(t.Context(), r.ws)
	if !kerrors.IsConflict(err) || o.ResourceUpToDate {
		t.Errorf("Observe(...): want a conflict, which the managed reconciler passes over, got %v and %+v", err, o)
	}

	if n := r.records.Get(r.ws).Failures.Count; n > 0 {
		t.Errorf("want no failure, got %d", n)
	}

	if diff := cmp.Diff([]string(nil), r.events.reasons); diff != "" {
		t.Errorf("Events of a plan that no status shows: -want, +got:\n%s", diff)
	}

	// The slot is reserved for the Workspace when its turn comes.
	r.slots.Release(reconcile.Request{})

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if o, err := r.Observe(t.Context(), r.ws); err != nil || !o.ResourceExists || o.ResourceUpToDate {
		t.Errorf("Observe(...) with a slot: want something to update, got %v and %+v", err, o)
	}

	if diff := cmp.Diff([]string{"PlannedChanges", "OmittedOutputs"}, r.events.reasons); diff != "" {
		t.Errorf("Events with a slot: -want, +got:\n%s", diff)
	}
}

// TestObserveCreateWithoutSlot ensures that a creation waits for a slot although updates are forbidden.
func TestObserveCreateWithoutSlot(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete)))
	r.planned(changes(), terraform.State{})
	r.slots.Acquire(reconcile.Request{})

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if _, err := r.Observe(t.Context(), r.ws); !kerrors.IsConflict(err) {
		t.Errorf("Observe(...): want a conflict, which the managed reconciler passes over, got %v", err)
	}
}

// TestObserveLocked ensures that the next plan checks again for a lock that may have been left
// behind and could not be removed: its holder may turn out to be dead.
func TestObserveLocked(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error
		want   int
	}{
		"Locked": {reason: "A person held the lock.", err: lockedBy("alice@laptop", time.Now()), want: 2},
		"Free":   {reason: "There was no lock.", want: 1},
		"Refused": {
			reason: "A lock without a holder is never removed. The provider may have no right to lock.",
			err:    &terraform.Error{Diagnostics: []terraform.Diagnostic{{Summary: "Error acquiring the state lock", Detail: "forbidden"}}},
			want:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			r.planned(terraform.Plan{}, ownState())
			r.runner.lockErr = tc.err
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{"dead"}} }

			for n := range 2 {
				r.now = func() time.Time { return time.Now().Add(time.Duration(n) * 3 * time.Hour) }

				if err := r.observeInConnect(t.Context(), r.ws); err != nil {
					t.Fatal(err)
				}

				if _, err := r.Observe(t.Context(), r.ws); err != nil {
					t.Fatal(err)
				}
			}

			if diff := cmp.Diff(tc.want, r.runner.locking); diff != "" {
				t.Errorf("\n%s\nplans that checked for a lock: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestObservedChecksum ensures that the status has a checksum only of a Workspace that was reconciled
// with its state.
func TestObservedChecksum(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		plan   terraform.Plan
		want   bool
	}{
		"UpToDate": {reason: "It is as specified.", ws: with(owner), want: true},
		"Changes":  {reason: "It is not as specified.", ws: with(owner), plan: changes()},
		"Observed": {reason: "To observe a state is not to own it.", ws: with(policies(xpv2.ManagementActionObserve))},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.planned(tc.plan, ownState())

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if _, err := r.Observe(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if got := r.ws.GetObservation().Checksum == checksum(r.ws); got != tc.want {
				t.Errorf("\n%s\nwant the checksum in the status: %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestChecksum ensures that the checksum identifies a specification. It depends on the Workspace
// alone, so that no value of a Secret can be part of it.
func TestChecksum(t *testing.T) {
	t.Parallel()

	module := func(text string) func(ws *clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { ws.Spec.ForProvider.Module = text }
	}

	if a, again := checksum(with(module("a"))), checksum(with(module("a"))); a != again {
		t.Error("checksum(...): want the same one for the same specification")
	}

	// A restored Workspace may have the generation of another specification.
	if checksum(with(module("a"))) == checksum(with(module("b"))) {
		t.Error("checksum(...): want another one for another specification")
	}
}

// TestIgnoredInterval ensures that people learn that their poll interval has no effect.
func TestIgnoredInterval(t *testing.T) {
	t.Parallel()

	for value, want := range map[string][]string{
		"":    nil,
		"24h": nil,
		"1d":  {`annotation crossplane.io/poll-interval: No effect: "1d" is no positive duration such as 90m or 24h`},
		"-1h": {`annotation crossplane.io/poll-interval: No effect: "-1h" is no positive duration such as 90m or 24h`},
	} {
		r := newAttempt(t, with(owner))
		meta.AddAnnotations(r.ws, map[string]string{meta.AnnotationKeyPollInterval: value})
		r.planned(terraform.Plan{}, ownState())

		if err := r.observeInConnect(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, r.ws.GetObservation().Warnings); diff != "" {
			t.Errorf("%q: warnings: -want, +got:\n%s", value, diff)
		}
	}
}

// TestWarnOfDeposed ensures that people learn of objects that no address tells apart from those that have replaced them.
func TestWarnOfDeposed(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(owner))
	state := ownState()
	state.Deposed = 2
	r.planned(terraform.Plan{}, state)

	if err := r.observeInConnect(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	want := []string{"Replaced objects still exist: earlier applies have failed before they destroyed 2 that they replaced. " +
		"The plan destroys them under the addresses of their resources. If each try leaves one more, pause the Workspace until the cause is mended"}
	if diff := cmp.Diff(want, r.ws.GetObservation().Warnings); diff != "" {
		t.Errorf("warnings: -want, +got:\n%s", diff)
	}
}
