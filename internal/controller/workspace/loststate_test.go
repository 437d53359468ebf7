// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withState adds a state to the status of a Workspace.
func withState(ws *clusterv1beta1.Workspace, s *commonv1beta1.StateSummary) *clusterv1beta1.Workspace {
	o := ws.GetObservation()
	o.State = s
	ws.SetObservation(o)

	return ws
}

func TestLostState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		had    commonv1beta1.StateSummary
		found  terraform.State
		accept string
		delete bool
		onDisk bool
		http   bool
		want   []string
		not    string
	}{
		"Server": {
			reason: "Servers hide what a token may not read.",
			http:   true,
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			want:   []string{`"tw" is gone`, "Some answer so to credentials that may not read it: check them first"},
		},
		"Backend": {
			reason: "The message says how to proceed.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			want:   []string{`"tw" is gone`, "Nothing was changed", workspace.AcceptLostStateAnnotationKey + "=l"},
			not:    "credentials",
		},
		"Disk": {
			reason: "Without a backend, the message says where the state was.",
			onDisk: true,
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			want:   []string{"no backend now, or a local one", "on the disk", "workspace_dir"},
		},
		"DeletedOldCopy": {
			reason: "A copy of the own state has a part of it.",
			delete: true,
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 2},
			found:  terraform.State{Lineage: "l", Serial: 6, Managed: 1},
			want:   []string{"so that only what it has is destroyed"},
		},
		"DeletedOther": {
			reason: "A deletion destroys nothing that is not its own.",
			delete: true,
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			found:  terraform.State{Lineage: "x", Managed: 1},
			want:   []string{`"tw" is another one`, "so that nothing is destroyed, with the annotation " + workspace.AcceptLostStateAnnotationKey + "=l"},
		},
		"UnknownLineage": {
			reason: "A state that was never observed can be accepted, too.",
			had:    commonv1beta1.StateSummary{Resources: 1},
			want:   []string{workspace.AcceptLostStateAnnotationKey + "=" + workspace.LineageUnknown},
		},
		"Accepted": {
			reason: "A person says that this state is lost.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			accept: "l",
		},
		"AcceptedUnknown": {
			reason: "A person says that the state is lost.",
			had:    commonv1beta1.StateSummary{Resources: 1},
			accept: workspace.LineageUnknown,
		},
		"AcceptedAnother": {
			reason: "A person accepted the loss of an earlier state.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			accept: "k",
			want:   []string{"is gone"},
		},
		"AcceptedTooMuch": {
			reason: "The lineage is known.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			accept: workspace.LineageUnknown,
			want:   []string{"is gone"},
		},
		"OldCopy": {
			reason: "The value names the copy.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 6},
			want:   []string{"is an old copy", workspace.AcceptLostStateAnnotationKey + "=l/7/6"},
		},
		"OlderCopy": {
			reason: "A person has accepted another copy.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 5},
			accept: "l/7/6",
			want:   []string{"is an old copy"},
		},
		"AcceptedOldCopy": {
			reason: "A person says that there is no newer state.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 6},
			accept: "l/7/6",
		},
		"LostAfterOldCopy": {
			reason: "A person once accepted a copy, but not that everything is lost.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			accept: "l/7/6",
			want:   []string{"is gone"},
		},
		"OldCopyAfterLoss": {
			reason: "A person accepted that everything was lost, but not this copy.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 6},
			accept: "l",
			want:   []string{"is an old copy"},
		},
		"NotLost": {
			reason: "There is nothing to accept.",
			had:    commonv1beta1.StateSummary{Lineage: "l"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, withState(with(), &tc.had))
			r.runner.place.OnDisk, r.runner.place.HTTP = tc.onDisk, tc.http
			meta.SetExternalName(r.ws, "tw")

			if tc.delete {
				deleted(r.ws)
			}

			if tc.accept != "" {
				meta.AddAnnotations(r.ws, map[string]string{workspace.AcceptLostStateAnnotationKey: tc.accept})
			}

			got := ""
			if err := r.planner.guard.lostState(r.ws, &tc.found); err != nil {
				got = err.Error()
			}

			if (got == "") != (len(tc.want) == 0) {
				t.Errorf("\n%s\nlostState(...): want an error: %t, got %q", tc.reason, len(tc.want) > 0, got)
			}

			for _, text := range tc.want {
				if !strings.Contains(got, text) {
					t.Errorf("\n%s\nlostState(...): want %q in %q", tc.reason, text, got)
				}
			}

			if tc.not != "" && strings.Contains(got, tc.not) {
				t.Errorf("\n%s\nlostState(...): want no %q in %q", tc.reason, tc.not, got)
			}
		})
	}
}

func TestApplied(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		before  terraform.State
		remakes bool
		did     terraform.Summary
		plan    terraform.Summary
		want    commonv1beta1.StateSummary
	}{
		"First": {
			reason: "There was no state before, so that the new one is read.",
			did:    terraform.Summary{Add: 2, Import: 1},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 4, Resources: 1},
		},
		"Changed": {
			reason: "The lineage stays, and the serial may have grown to an unknown value.",
			before: terraform.State{Lineage: "l", Serial: 3, Managed: 2},
			did:    terraform.Summary{Add: 1, Change: 1, Destroy: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1},
		},
		"Added": {
			reason: "With a resource more, the serial has grown by one at least.",
			before: terraform.State{Lineage: "l", Serial: 3, Managed: 2},
			did:    terraform.Summary{Add: 2, Destroy: 1},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 4, Resources: 3},
		},
		"AddedAgain": {
			reason: "The state counts a resource that was deleted outside of Terraform, and is the same with the one that was added again.",
			before: terraform.State{Lineage: "l", Serial: 3, Managed: 2, Gone: 1},
			did:    terraform.Summary{Add: 1},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
		},
		"OwnPlan": {
			reason:  "A plan that the apply has made may have had another drift.",
			before:  terraform.State{Lineage: "l", Serial: 3, Managed: 2},
			remakes: true,
			did:     terraform.Summary{Add: 1},
			want:    commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
		},
		"OwnPlanOfNothing": {
			reason:  "Nothing can have been gone.",
			before:  terraform.State{Lineage: "l", Serial: 1},
			remakes: true,
			did:     terraform.Summary{Add: 3},
			want:    commonv1beta1.StateSummary{Lineage: "l", Serial: 2, Resources: 3},
		},
		"AddedBesideGone": {
			reason: "More were added than were gone.",
			before: terraform.State{Lineage: "l", Serial: 3, Managed: 4, Gone: 1},
			did:    terraform.Summary{Add: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 6},
		},
		"ForgottenByReplacement": {
			reason: "The apply does not count what its plan has counted.",
			before: terraform.State{Lineage: "l", Managed: 2},
			did:    terraform.Summary{Add: 1},
			plan:   terraform.Summary{Add: 1, Forget: 1},
			want:   commonv1beta1.StateSummary{Lineage: "l", Resources: 2},
		},
		"Deposed": {
			reason: "The CLI counts the old object, which the state does not count.",
			before: terraform.State{Lineage: "l", Serial: 3, Managed: 1, Deposed: 1},
			did:    terraform.Summary{Add: 1, Destroy: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 4, Resources: 1},
		},
		"Forgotten": {
			reason: "What is removed from the state only is not in it either.",
			before: terraform.State{Lineage: "l", Managed: 2},
			did:    terraform.Summary{Forget: 1},
			want:   commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
		},
		"MoreThanAll": {
			reason: "The number of resources that a replacement destroyed may be unknown.",
			before: terraform.State{Lineage: "l", Managed: 1},
			did:    terraform.Summary{Destroy: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			r.applier.plan = &terraform.Plan{Prior: &tc.before, Summary: tc.plan}
			r.runner.state = &terraform.State{Lineage: "l", Serial: 4, Managed: 1}
			r.runner.remakes = tc.remakes

			got, err := r.observeApplied(t.Context(), &terraform.Applied{Summary: tc.did, Outputs: map[string]terraform.Output{}})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, *got.State); diff != "" {
				t.Errorf("\n%s\nobserveApplied(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLostWhileObserving lets an owner only observe for a while. The state that it finds then does not
// replace its own one in the status, unless a person accepts that.
func TestLostWhileObserving(t *testing.T) {
	t.Parallel()

	blank := terraform.State{Lineage: otherLineage}

	cases := map[string]struct {
		reason string
		change []func(ws *clusterv1beta1.Workspace)
		want   string
	}{
		"Owner":    {reason: "The owner remembers its state.", change: []func(*clusterv1beta1.Workspace){owner}, want: ownLineage},
		"Observer": {reason: "The others had none.", want: otherLineage},
		"Accepted": {
			reason: "A person says that the state of the owner is lost.",
			change: []func(*clusterv1beta1.Workspace){owner, func(ws *clusterv1beta1.Workspace) {
				meta.AddAnnotations(ws, map[string]string{workspace.AcceptLostStateAnnotationKey: ownLineage})
			}},
			want: otherLineage,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(append(tc.change, policies(xpv2.ManagementActionObserve))...))
			r.planned(changes(), blank)

			if err := r.observeInConnect(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if got := r.ws.GetObservation().State.Lineage; got != tc.want {
				t.Errorf("\n%s\nlineage in the status: want %s, got %s", tc.reason, tc.want, got)
			}

			r.records.ForgetObservation(r.ws)
			r.ws.SetManagementPolicies(nil)

			err := r.observeInConnect(t.Context(), r.ws)
			if err == nil {
				_, err = r.Observe(t.Context(), r.ws)
			}

			if want := tc.want == ownLineage; (err != nil) != want {
				t.Errorf("\n%s\nObserve(...) when it may create again: want an error: %t, got %v", tc.reason, want, err)
			}
		})
	}
}
