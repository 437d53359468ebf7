// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// legacy is a Workspace that the existing provider has reconciled.
func legacy(ws *clusterv1beta1.Workspace) {
	o := ws.GetObservation()
	o.Checksum = "0123456789abcdef0123456789abcdef"
	ws.SetObservation(o)
}

// accepts is a Workspace whose annotation has the supplied value.
func accepts(value string) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) {
		meta.AddAnnotations(ws, map[string]string{workspace.AcceptTakenOverStateAnnotationKey: value})
	}
}

// stateTakenOver returns the status and the reason of this condition.
func stateTakenOver(ws *clusterv1beta1.Workspace) []string {
	c := ws.GetCondition(workspace.TypeStateTakenOver)

	return []string{string(c.Status), string(c.Reason)}
}

// TestTakenOver updates a Workspace that finds a state with two resources.
func TestTakenOver(t *testing.T) {
	t.Parallel()

	destroys := changes()
	destroys.Summary.Destroy = 5
	destroys.Resources = []terraform.ResourceChange{{Action: "delete", Address: "a.a"}, {Action: "replace", Address: "b.b"}, {Action: "delete", Address: "c.c"}, {Action: "delete", Address: "d.d"}, {Action: "update", Address: "a.b"}}

	unknown := terraform.Plan{Changes: true, NoSummary: true}

	tookOver, planned, pull := "TookOverState", "PlannedChanges", "state pull"
	kept := []string{"True", "ResourcesFound"}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		plan   terraform.Plan
		change func(r *attempt)
		want   outcome
		// condition StateTakenOver: its status and reason.
		condition []string
	}{
		"Adds": {
			reason:    "A plan that destroys nothing is applied as ever. From then on it is like any other Workspace.",
			ws:        with(),
			plan:      changes(),
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{tookOver, planned}, ready: xpv2.ReasonAvailable, lineage: otherLineage, begun: true, succeeded: true},
			condition: []string{"False", "Applied"},
		},
		"Destroys": {
			reason:    "The resources may be in use elsewhere. The error names some of them, in a stable order.",
			ws:        with(),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull}, events: []string{tookOver, planned}, err: "would destroy 5 resources (a.a, b.b, c.c, and 2 more)", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Names": {
			reason:    "The error has the annotation that accepts it.",
			ws:        with(),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull}, events: []string{tookOver, planned}, err: "terraform.crossplane.io/accept-taken-over-state=" + otherLineage, ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Accepted": {
			reason:    "A person accepts it.",
			ws:        with(accepts(otherLineage)),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{tookOver, planned}, ready: xpv2.ReasonAvailable, lineage: otherLineage, begun: true, succeeded: true},
			condition: []string{"False", "Accepted"},
		},
		"AcceptedOther": {
			reason:    "A person has accepted it for another state.",
			ws:        with(accepts(ownLineage)),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull}, events: []string{tookOver, planned}, err: "would destroy", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Remade": {
			reason:    "The apply makes a plan of its own, which may destroy more than the first one.",
			ws:        with(),
			plan:      changes(),
			change:    func(r *attempt) { r.runner.remakes = true },
			want:      outcome{ran: []string{"plan", pull}, events: []string{tookOver, planned}, err: "is not known before", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"NoSummary": {
			reason:    "The CLI does not say what the plan does.",
			ws:        with(),
			plan:      unknown,
			want:      outcome{ran: []string{"plan", pull}, events: []string{tookOver, planned}, err: "is not known before", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Stale": {
			reason: "The state has changed, and the new plan destroys something.",
			ws:     with(),
			plan:   changes(),
			change: func(r *attempt) {
				r.runner.stale = new(destroys)
				r.runner.stale.Prior = new(otherState())
			},
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{tookOver, planned}, err: "would destroy", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Failed": {
			reason:    "Nothing shows yet that the module fits.",
			ws:        with(),
			plan:      changes(),
			change:    func(r *attempt) { r.runner.applyErr = errors.New("boom") },
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{tookOver, planned}, err: "boom", ready: xpv2.ReasonUnavailable, lineage: otherLineage, begun: true},
			condition: kept,
		},
		"Legacy": {
			reason:    "A person who switches from the existing provider sees no difference.",
			ws:        with(legacy),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{planned}, ready: xpv2.ReasonAvailable, lineage: otherLineage, begun: true, succeeded: true},
			condition: []string{"Unknown", ""},
		},
		"Creator": {
			reason:    "It was interrupted while it created what is in the state.",
			ws:        with(creates),
			plan:      destroys,
			want:      outcome{ran: []string{"plan", pull, "apply"}, events: []string{planned}, ready: xpv2.ReasonAvailable, lineage: otherLineage, begun: true, succeeded: true},
			condition: []string{"Unknown", ""},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.planned(tc.plan, otherState())
			r.runner.applied.Outputs = map[string]terraform.Output{}

			if tc.change != nil {
				tc.change(r)
			}

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if _, err := r.Observe(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			_, err := r.Update(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			if diff := cmp.Diff(tc.condition, stateTakenOver(r.ws)); diff != "" {
				t.Errorf("\n%s\ncondition StateTakenOver: -want, +got:\n%s", tc.reason, diff)
			}

			if kept := r.ws.GetOwnership().TakenOverAt != nil; kept != (tc.condition[0] == string(corev1.ConditionTrue)) {
				t.Errorf("\n%s\nthe condition and the ownership differ: %v, %+v", tc.reason, tc.condition, r.ws.GetOwnership())
			}
		})
	}
}

// TestDeleteTakenOver deletes a Workspace that finds a state with two resources.
func TestDeleteTakenOver(t *testing.T) {
	t.Parallel()

	pull, tookOver := "state pull", "TookOverState"

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		want   outcome
	}{
		"Found": {
			reason: "It has not created what would be destroyed. A person may keep that.",
			ws:     with(deleted),
			want:   outcome{ran: []string{pull, pull}, events: []string{tookOver}, err: "the deletion would destroy 2 resources", lineage: otherLineage, begun: true},
		},
		"WayOut": {
			reason: "The error says how to keep it.",
			ws:     with(deleted),
			want:   outcome{ran: []string{pull, pull}, events: []string{tookOver}, err: "set spec.deletionPolicy to Orphan. Or accept it with the annotation terraform.crossplane.io/accept-taken-over-state=" + otherLineage, lineage: otherLineage, begun: true},
		},
		"Accepted": {
			reason: "A person accepts it.",
			ws:     with(deleted, accepts(otherLineage)),
			want:   outcome{ran: []string{pull, pull, "destroy", "workspace delete"}, events: []string{tookOver}, ready: xpv2.ReasonDeleting, lineage: otherLineage, begun: true},
		},
		"Legacy": {
			reason: "A person who switches from the existing provider sees no difference.",
			ws:     with(deleted, legacy),
			want:   outcome{ran: []string{pull, pull, "destroy", "workspace delete"}, ready: xpv2.ReasonDeleting, lineage: otherLineage, begun: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.runner.state, r.runner.destroyed = new(otherState()), 2

			_, err := r.Delete(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)
		})
	}
}

// TestTakenOverOnce ensures that a Workspace which has taken over a state says so once.
func TestTakenOverOnce(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	r.planned(terraform.Plan{}, otherState())

	for range 2 {
		if err := r.observeInConnect(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		r.records.ForgetObservation(r.ws)
	}

	if diff := cmp.Diff([]string{"TookOverState"}, r.events.reasons); diff != "" {
		t.Errorf("Events: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"True", "ResourcesFound"}, stateTakenOver(r.recorded(t))); diff != "" {
		t.Errorf("condition StateTakenOver: -want, +got:\n%s", diff)
	}
}

// TestObserverOfEarlier has a Workspace for which the existing provider has only observed a state. If its policies allow more later, it
// takes the state over like any other.
func TestObserverOfEarlier(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(policies(xpv2.ManagementActionObserve), readyFor(0), legacy))
	workspace.RecordAvailable(r.ws) // As Connect does.
	// What the existing provider has found is not there, perhaps because of another backend.
	r.observed(t, changes(), terraform.State{})

	if lost := r.planner.guard.lostState(with(func(ws *clusterv1beta1.Workspace) { ws.Status = r.ws.Status }), &terraform.State{}); lost == nil {
		t.Error("want the loss of what was there once the policies allow more, got none")
	}

	r.observed(t, terraform.Plan{}, ownState())
	r.ws.SetManagementPolicies(nil)

	if got := workspace.OwnershipOfFound(r.ws, ownLineage); got != workspace.OwnershipNone {
		t.Errorf("want a state that is not owned, got %v", got)
	}
}
