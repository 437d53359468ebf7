// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// leave a state that a run could not save.
func leave(t *testing.T, r *attempt, state string) {
	t.Helper()

	r.runner.unsaved = filepath.Join(t.TempDir(), "errored.tfstate")
	if err := os.WriteFile(r.runner.unsaved, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()

	pull, push, use, destroy, gone := "state pull", "state push", "use unsaved state", "destroy", "workspace delete"
	nothing, something := `{"version":4,"resources":[]}`, `{"version":4,"resources":[{"mode":"managed","instances":[{}]}]}`
	data := terraform.State{Lineage: ownLineage, Serial: 3, Data: true}
	onlyOutputs := terraform.State{Lineage: ownLineage, Serial: 3, Outputs: map[string]terraform.Output{"a": {}}}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		others []client.Object
		state  terraform.State
		change func(r *attempt)
		want   outcome

		// resources that the status records afterwards.
		resources int
	}{
		"Destroyed": {
			reason: "Nothing is left.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) { r.runner.destroyed = 2 },
			want:   outcome{ran: []string{pull, destroy, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"Empty": {
			reason: "There is nothing to destroy.",
			ws:     with(deleted),
			change: func(*attempt) {},
			want:   outcome{ran: []string{pull, gone}},
		},
		"Failed": {
			reason:    "The resources are still there.",
			ws:        with(deleted, owner),
			state:     ownState(),
			change:    func(r *attempt) { r.runner.destroyErr = errors.New("boom") },
			want:      outcome{ran: []string{pull, destroy}, err: "boom", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"Lost": {
			reason:    "An empty state does not prove that there is nothing to destroy.",
			ws:        with(deleted, owner),
			change:    func(*attempt) {},
			want:      outcome{ran: []string{pull}, err: "is gone", lineage: ownLineage},
			resources: 2,
		},
		"LostMeanwhile": {
			reason: "A destroy without a result, although the state had resources, has read another state.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.pulled = func() { r.runner.state = &terraform.State{} }
			},
			want:      outcome{ran: []string{pull, destroy, pull}, err: "is gone", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"UnknownAfterwards": {
			reason: "Without an answer of the backend, it is not known whether the state was lost meanwhile.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.pulled = func() { r.runner.stateErr = errors.New("no answer") }
			},
			want:      outcome{ran: []string{pull, destroy, pull}, err: "no answer", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"UnsavedTooLarge": {
			reason: "The state in the backend does not have all resources. The empty one is small enough.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.unsaved, r.runner.pushErr, r.runner.destroyed = "errored.tfstate", tooLarge("state push"), 2
				r.runner.record = &runner.RunRecord{StateSummary: summarizeState(new(ownState()))}
				r.runner.destroying = func() { r.runner.pushErr = nil }
			},
			want: outcome{ran: []string{push, use, pull, destroy, push, gone}, events: []string{"SavedState"}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"NamespaceGone": {
			reason: "The destroy has left nothing, so that nothing has to be saved.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyErr, r.runner.destroying = lacksNamespace("destroy"), func() { leave(t, r, nothing) }
			},
			want: outcome{ran: []string{pull, destroy, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"NamespaceGoneLater": {
			reason: "An earlier destroy has left nothing.",
			ws:     with(deleted, owner),
			change: func(r *attempt) {
				r.runner.pushErr, r.runner.state = lacksNamespace("state push"), &terraform.State{Lineage: ownLineage, Serial: 5}
				leave(t, r, nothing)
				r.runner.record = &runner.RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: ownLineage, Serial: 5}}
				r.ws.Status.AtProvider.State.Serial = 5
				r.ws.Status.AtProvider.State.Resources = 0
			},
			want: outcome{ran: []string{push, use, pull, push, gone}, lineage: ownLineage},
		},
		"NamespaceGoneTooEarly": {
			reason: "The destroy has left a resource, which only this state has.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyErr, r.runner.destroying = lacksNamespace("destroy"), func() { leave(t, r, something) }
			},
			want:      outcome{ran: []string{pull, destroy}, err: "set spec.deletionPolicy to Orphan", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"StateGone": {
			reason:    "The CLI cannot make a state, as it does where there is none.",
			ws:        with(deleted, owner),
			change:    func(r *attempt) { r.runner.stateErr = lacksNamespace("state pull") },
			want:      outcome{ran: []string{pull}, err: "To delete the Workspace and leave its infrastructure behind, set spec.deletionPolicy to Orphan", lineage: ownLineage},
			resources: 2,
		},
		"Foreign": {
			reason: "The state belongs to another Workspace and stays.",
			ws:     with(deleted),
			others: []client.Object{anotherOwner(otherLineage)},
			state:  otherState(),
			change: func(*attempt) {},
			want:   outcome{ran: []string{pull}, events: []string{"KeptState"}},
		},
		"Accepted": {
			reason: "A person has accepted that the state is lost. The state in its place does not belong to the Workspace and stays.",
			ws:     with(deleted, owner),
			state:  otherState(),
			change: func(r *attempt) {
				meta.AddAnnotations(r.ws, map[string]string{workspace.AcceptLostStateAnnotationKey: ownLineage})
			},
			want:      outcome{ran: []string{pull}, events: []string{"KeptState"}, lineage: ownLineage},
			resources: 2,
		},
		"Broken": {
			reason:    "The module is broken, and there are resources.",
			ws:        with(deleted, owner),
			state:     ownState(),
			change:    func(r *attempt) { r.runner.stateErr = errors.New("broken") },
			want:      outcome{ran: []string{pull}, err: "broken", lineage: ownLineage},
			resources: 2,
		},
		"BrokenWithResources": {
			reason: "The state can be read without the module, but not destroyed.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.stateErr, r.runner.optional = errors.New("broken"), true
			},
			want:      outcome{ran: []string{pull, pull}, err: "broken", lineage: ownLineage},
			resources: 2,
		},
		"BrokenEverywhere": {
			reason: "The error with the module is the one that a person can do something about.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.stateErr, r.runner.optional, r.runner.bareErr = errors.New("broken"), true, errors.New("no backend")
			},
			want:      outcome{ran: []string{pull, pull}, err: "broken", lineage: ownLineage},
			resources: 2,
		},
		"BrokenWithoutResources": {
			reason: "A module that was broken from the start must not block the deletion.",
			ws:     with(deleted),
			change: func(r *attempt) {
				r.runner.stateErr, r.runner.optional = errors.New("broken"), true
			},
			want: outcome{ran: []string{pull, pull, gone}},
		},
		"Canceled": {
			reason: "An interrupted run says nothing about the module.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.stateErr, r.runner.optional = context.Canceled, true
			},
			want:      outcome{ran: []string{pull}, err: "canceled", lineage: ownLineage},
			resources: 2,
		},
		"OnlyData": {
			reason: "There are only data sources, which need no destroy, but a backend may refuse to delete a workspace with them.",
			ws:     with(deleted),
			state:  data,
			change: func(*attempt) {},
			want:   outcome{ran: []string{pull, pull, destroy, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage, begun: true},
		},
		"OnlyOutputs": {
			reason: "The CLI may refuse to delete a workspace with outputs.",
			ws:     with(deleted),
			state:  onlyOutputs,
			change: func(*attempt) {},
			want:   outcome{ran: []string{pull, pull, destroy, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage, begun: true},
		},
		"BrokenWithOutputs": {
			reason: "Outputs and data sources need no destroy, which a broken module would prevent.",
			ws:     with(deleted),
			state:  data,
			change: func(r *attempt) {
				r.runner.stateErr, r.runner.optional = errors.New("broken"), true
			},
			want: outcome{ran: []string{pull, pull, pull, gone}, lineage: ownLineage, begun: true},
		},
		"VanishedValue": {
			reason: "What a data source looks up is gone, and nothing is to be destroyed.",
			ws:     with(deleted),
			state:  data,
			change: func(r *attempt) {
				r.runner.destroyErr = &terraform.Error{Op: "destroy", ExitCode: 1, Diagnostics: []terraform.Diagnostic{{Summary: "Unsupported attribute"}}}
			},
			want: outcome{ran: []string{pull, pull, destroy, pull, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage, begun: true},
		},
		"WithoutValues": {
			reason: "A destroy takes values of variables, and the error says how to proceed.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.incomplete = errors.New("no such Secret")
				r.runner.destroyErr = r.runner.incomplete
			},
			want:      outcome{ran: []string{pull, destroy}, err: "set spec.deletionPolicy to Orphan", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"Left": {
			reason: "destroyArgs have left resources in the default Terraform workspace, which cannot be deleted.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyed = 1
				meta.SetExternalName(r.ws, "default")
			},
			want:      outcome{ran: []string{pull, destroy, pull}, err: "there are resources left", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"LeftElsewhere": {
			reason: "The CLI would not delete the Terraform workspace. The status must still have the resources that are left: their state may get lost.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyed = 1
				r.runner.pulled = func() { r.runner.state = &terraform.State{Lineage: ownLineage, Serial: 4, Managed: 1} }
			},
			want:      outcome{ran: []string{pull, destroy, pull}, err: "there are resources left", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"NothingLeft": {
			reason: "The destroy did not count a resource that was gone before.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyed = 1
				r.runner.pulled = func() { r.runner.state = &terraform.State{Lineage: ownLineage, Serial: 4} }
			},
			want: outcome{ran: []string{pull, destroy, pull, gone}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"NotRecorded": {
			reason: "Without this record, the next instance would take the state for a lost one.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) { r.runner.destroyed, r.maxWrites = 2, 1 },
			want:   outcome{ran: []string{pull, destroy}, err: "cannot record that everything is destroyed", ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"NotAnnounced": {
			reason:    "Users could not see that it is being destroyed.",
			ws:        with(deleted, owner),
			state:     ownState(),
			change:    func(r *attempt) { r.maxWrites = 0 },
			want:      outcome{ran: []string{pull}, err: "cannot record that the deletion begins", ready: xpv2.ReasonDeleting, lineage: ownLineage},
			resources: 2,
		},
		"Warned": {
			reason: "A provider says in a warning that an object stays.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyed = 2
				r.runner.warned = terraform.Warnings{First: []terraform.Diagnostic{{Summary: "Resource Destruction Considerations"}}}
			},
			want: outcome{ran: []string{pull, destroy, gone}, events: []string{"ReportedWarnings"}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
		"Unsaved": {
			reason: "A state that a run could not save is destroyed, too.",
			ws:     with(deleted, owner),
			state:  ownState(),
			change: func(r *attempt) {
				r.runner.destroyed, r.runner.unsaved, r.runner.record = 2, "/errored.tfstate", &runner.RunRecord{StateSummary: summarizeState(new(ownState()))}
			},
			want: outcome{ran: []string{"state push", pull, destroy, gone}, events: []string{"SavedState"}, ready: xpv2.ReasonDeleting, lineage: ownLineage},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws, tc.others...)
			r.runner.state = &tc.state
			tc.change(r)

			_, err := r.Delete(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			if slices.Contains(tc.want.events, "KeptState") && len(r.events.ends) > 0 {
				t.Errorf("\n%s\nwant no Event about a deletion, got %q", tc.reason, r.events.ends)
			}

			got := 0
			if s := r.ws.GetObservation().State; s != nil {
				got = s.Resources
			}

			if diff := cmp.Diff(tc.resources, got); diff != "" {
				t.Errorf("\n%s\nresources: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeletingConditions ensures that the write that records a destroy has the conditions of the
// managed reconciler, which then has nothing to write.
func TestDeletingConditions(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(deleted, owner))
	s := ownState()
	r.runner.state, r.runner.destroyed = &s, 2
	r.ws.SetGeneration(3)

	if err := r.kube.Update(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	if _, err := r.Delete(t.Context(), r.ws); err != nil {
		t.Fatal(err)
	}

	for _, want := range []xpv2.Condition{xpv2.Deleting(), xpv2.ReconcileSuccess()} {
		got := r.recorded(t).GetCondition(want.Type)

		if diff := cmp.Diff([]any{want.Status, want.Reason, int64(3)}, []any{got.Status, got.Reason, got.ObservedGeneration}); diff != "" {
			t.Errorf("status, reason, generation of %s: -want, +got:\n%s", want.Type, diff)
		}
	}
}

// TestObserveDeleted ensures that the finalizer is removed after everything else.
func TestObserveDeleted(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		seen   *schedule.Observation
		want   bool
	}{
		"First":   {reason: "It has to be destroyed first.", want: true},
		"Nothing": {reason: "The Terraform workspace has to be deleted.", seen: &schedule.Observation{}, want: true},
		"Gone":    {reason: "It was deleted before.", seen: &schedule.Observation{Deleted: true}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(deleted, owner))
			if tc.seen != nil {
				r.records.Observe(r.ws, *tc.seen, nil)
			}

			if o := r.observeDeleted(r.ws); o.ResourceExists != tc.want {
				t.Errorf("\n%s\nwant it to exist: %t, got %t", tc.reason, tc.want, o.ResourceExists)
			}
		})
	}
}

// TestDeleteWorkspace deletes a Terraform workspace whose state is empty.
func TestDeleteWorkspace(t *testing.T) {
	t.Parallel()

	pull, gone := "state pull", "workspace delete"

	cases := map[string]struct {
		reason   string
		err      error
		optional bool
		want     outcome
	}{
		"Deleted": {reason: "It is all that is left.", want: outcome{ran: []string{pull, gone}}},
		"Encrypted": {
			reason: "The key has the name of the Terraform workspace in it.",
			err:    &terraform.Error{Op: "workspace delete", Diagnostics: []terraform.Diagnostic{{Summary: "Error acquiring the state lock", Detail: "failed to write backup file: decryption failed for all provided methods"}}},
			want:   outcome{ran: []string{pull, gone}, err: "use a variable instead. To delete the Workspace and leave its empty state behind, set spec.deletionPolicy to Orphan"},
		},
		"Broken": {reason: "The module is broken, and not needed.", err: errors.New("broken"), optional: true, want: outcome{ran: []string{pull, gone, gone}}},
		"Failed": {reason: "It is tried again.", err: errors.New("broken"), want: outcome{ran: []string{pull, gone}, err: "broken"}},
		"NotEmpty": {
			reason: "Resources are left: the next reconcile destroys them.",
			err:    &terraform.Error{Diagnostics: []terraform.Diagnostic{{Summary: "Workspace is not empty"}}},
			want:   outcome{ran: []string{pull, gone}, err: "there are resources left"},
		},
		"NamespaceGone": {reason: "The empty state goes with its namespace.", err: lacksNamespace("workspace delete"), want: outcome{ran: []string{pull, gone}}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(deleted))
			r.runner.state = &terraform.State{}
			r.runner.deleteErr, r.runner.optional = tc.err, tc.optional

			_, err := r.Delete(t.Context(), r.ws)
			r.expect(t, tc.reason, tc.want, err)

			// Each retry would repeat the Event.
			if failed := len(r.events.ends) == 0; failed != (tc.want.err != "") {
				t.Errorf("\n%s\nEvents about the end: %q", tc.reason, r.events.ends)
			}

			if want, o := tc.want.err != "", r.observeDeleted(r.ws); o.ResourceExists != want {
				t.Errorf("\n%s\nafter that: want it to exist: %t, got %t", tc.reason, want, o.ResourceExists)
			}
		})
	}
}

func TestWithWayOut(t *testing.T) {
	t.Parallel()

	const (
		orphan = ". To destroy the resources, or to read an encrypted state, takes the values of all variables: restore what is missing, or correct spec.forProvider. " +
			"To delete the Workspace and leave the infrastructure and its state behind, "
		leave      = ". If that cannot be mended: to delete the Workspace and leave the infrastructure and its state behind, "
		byPolicy   = `set spec.managementPolicies to ["Observe", "Create", "Update"]`
		byDeletion = "set spec.deletionPolicy to Orphan"
		notSet     = ". Variables that -var and -var-file set in spec.forProvider.planArgs, applyArgs or env TF_CLI_ARGS_... are not set in a destroy: add these arguments to spec.forProvider.destroyArgs"
	)

	incomplete, other := errors.New("varFiles[0]"), errors.New("no such region")

	limited := with()
	limited.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete})

	cases := map[string]struct {
		reason     string
		ws         workspace.Workspace
		incomplete error
		lacks      bool // See Runner.DestroyLacksVariables.
		fetchErr   error
		err        error
		want       string
	}{
		"Cluster":    {reason: "The deletion policy is enough.", ws: with(), incomplete: incomplete, err: errors.Wrap(incomplete, "a"), want: "a: varFiles[0]" + orphan + byDeletion},
		"Policies":   {reason: "The deletion policy has no effect beside other management policies.", ws: limited, incomplete: incomplete, err: incomplete, want: "varFiles[0]" + orphan + byPolicy},
		"Namespaced": {reason: "There is no deletion policy.", ws: &namespacedv1beta1.Workspace{}, incomplete: incomplete, err: incomplete, want: "varFiles[0]" + orphan + byPolicy},
		"Prevented": {
			reason: "The resource is to stay.", ws: with(), err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Detail: "Resource x has prevent_destroy set, but the plan calls for it to be destroyed."}}},
			want: "destroy ended with " + leave + byDeletion,
		},
		"Protected": {
			reason: "The module is not applied any more.", ws: with(), err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "Cannot destroy cluster because deletion_protection is set to true."}}},
			want: "destroy ended with . A destroy takes such an argument from the last apply, and a change of the module has no effect any more: lift the protection, or delete the object, by hand. Or, if a backend has the state, to apply the change, " +
				byDeletion + ", and create the Workspace again with the same external name and the corrected module",
		},
		"ProviderGone": {
			reason: "The module may be gone.", ws: with(), err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "Provider configuration not present"}}},
			want: "destroy ended with " + leave + byDeletion,
		},
		"Broken": {
			reason: "A part of the module may be gone.", ws: with(), err: brokenModuleError{other},
			want: "no such region" + leave + byDeletion,
		},
		"NewVariable": {
			reason: "The module may be that of others.", ws: with(), err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "No value for required variable"}}},
			want: "destroy ended with " + leave + byDeletion,
		},
		"EarlierFetch": {
			reason: "The new module may have the variable.", ws: with(), fetchErr: other, err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "No value for required variable"}}},
			want: "destroy ended with . This is the module of an earlier fetch, because it cannot be fetched now: no such region" + leave + byDeletion,
		},
		"NewVersion": {
			reason: "So is the version that it requires.", ws: with(), err: &terraform.Error{Op: "init", Diagnostics: []terraform.Diagnostic{{Summary: "Unsupported Terraform Core version"}}},
			want: "init ended with " + leave + byDeletion,
		},
		"Unreadable": {
			reason: "The state may be damaged.", ws: with(), err: &terraform.Error{Op: "state pull", Diagnostics: []terraform.Diagnostic{{Summary: "Error loading the state: unexpected EOF"}}},
			want: "state pull ended with " + leave + byDeletion,
		},
		"ValueGone": {
			reason: "The destroy needs no value.", ws: with(), err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "Unsupported attribute"}}},
			want: `destroy ended with . The module refers to a value that is gone. To destroy without a look at it, add "-refresh=false" to spec.forProvider.destroyArgs`,
		},
		"ValueNotSet": {
			reason: "It reads with the default of a variable.", ws: with(), lacks: true, err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "Unable to find remote state"}}},
			want: "destroy ended with " + notSet,
		},
		"VariableNotSet": {
			reason: "There is no default.", ws: with(), lacks: true, err: &terraform.Error{Op: "destroy", Diagnostics: []terraform.Diagnostic{{Summary: "No value for required variable"}}},
			want: "destroy ended with " + notSet,
		},
		"OtherCause": {reason: "It is not about a variable.", ws: with(), lacks: true, err: other, want: "no such region"},
		"OtherBackend": {
			reason: "The old backend may be gone.", ws: with(), err: &terraform.Error{Op: "init", Diagnostics: []terraform.Diagnostic{{Summary: "Backend configuration changed"}}},
			want: "init ended with " + leave + byDeletion,
		},
		"NotFound": {
			reason: "Something that the specification refers to is missing.", ws: with(), err: errors.Wrap(kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "s"), "credentials"),
			want: `credentials: secrets "s" not found` + leave + byDeletion,
		},
		"Other":    {reason: "The reason is another one.", ws: with(), incomplete: incomplete, err: other, want: "no such region"},
		"Complete": {reason: "Nothing is missing.", ws: with(), err: other, want: "no such region"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := &destroyer{module: &fakeRunner{incomplete: tc.incomplete, lacksVariables: tc.lacks, fetchErr: tc.fetchErr}}

			err := d.withWayOut(tc.ws, tc.err)
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("\n%s\nwithWayOut(...): -want, +got:\n%s", tc.reason, diff)
			}

			if !errors.Is(err, tc.err) {
				t.Errorf("withWayOut(...): %v is not %v any more", err, tc.err)
			}
		})
	}
}
