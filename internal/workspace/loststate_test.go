// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// pending is a creation whose end the managed reconciler has not recorded.
func pending() option {
	return func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreatePending(ws, epoch()) }
}

func TestLost(t *testing.T) {
	t.Parallel()

	had := &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}

	cases := map[string]struct {
		reason string
		had    *commonv1beta1.StateSummary
		opts   []option
		found  Found
		want   string
	}{
		"New": {
			reason: "No state was recorded, so none was lost.",
		},
		"Taken": {
			reason: "No state was recorded, so the one that was found is used.",
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 1}},
		},
		"NothingToLose": {
			reason: "Without resources, nothing could be created twice.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
		},
		"NothingToLoseElsewhere": {
			reason: "The same is true with another state, or an older one.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 7}},
		},
		"Same": {
			reason: "The state was found.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}},
		},
		"Newer": {
			reason: "Another process has changed it since.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 4}, Empty: true},
		},
		"Gone": {
			reason: "No state was found.",
			had:    had,
			want:   "is gone: expected lineage l (serial 3, 2 resources), found none",
		},
		"Unrecorded": {
			reason: "The existing provider has found it, and recorded nothing.",
			opts:   []option{reconciled(legacyChecksum), available()},
			found:  Found{Empty: true},
			want:   "is gone: expected the one that it was created with, found none",
		},
		"UnrecordedReturned": {
			reason: "The existing provider has done nothing but write the status, which keeps the checksum of this one.",
			opts:   []option{reconciled(checksum), available(), func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, time.Now()) }},
			found:  Found{Empty: true},
			want:   "is gone: expected the one that it was created with, found none",
		},
		"NothingReturned": {
			reason: "This version had nothing to create.",
			opts:   []option{reconciled(checksum), available()},
			found:  Found{Empty: true},
		},
		"UnrecordedBlank": {
			reason: "Some backends make a new state when they are read. The condition Ready has changed since.",
			opts:   []option{available(), func(ws *namespacedv1beta1.Workspace) { RecordAvailable(ws) }, deleting()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}, Empty: true},
			want:   "is empty: expected the one that it was created with",
		},
		"Disowned": {
			reason: "It was that of another Workspace.",
			opts:   []option{available(), func(ws *namespacedv1beta1.Workspace) { RecordAvailable(ws); Disown(ws); RecordAvailable(ws) }},
			found:  Found{Empty: true},
		},
		"Observed": {
			reason: "It may create nothing, and is Available without a state.",
			opts: []option{available(), func(ws *namespacedv1beta1.Workspace) {
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate})
			}},
			found: Found{Empty: true},
		},
		"ObservedLater": {
			reason: "What it has observed without the right to create is no answer.",
			had:    &commonv1beta1.StateSummary{Lineage: "x", Serial: 1},
			opts:   []option{reconciled(legacyChecksum), available(), func(ws *namespacedv1beta1.Workspace) { RecordAvailable(ws) }},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}, Empty: true},
			want:   "is empty: expected the one that it was created with",
		},
		"ObservedAndGone": {
			reason: "It has only observed the state of another one, which is gone, and may create its own now.",
			had:    &commonv1beta1.StateSummary{Lineage: "x", Serial: 1},
			opts: []option{available(), func(ws *namespacedv1beta1.Workspace) {
				ws.SetObservation(commonv1beta1.WorkspaceObservation{State: &commonv1beta1.StateSummary{Lineage: "x", Serial: 1}})
				RecordAvailable(ws)
			}},
			found: Found{Empty: true},
		},
		"EmptiedSince": {
			reason: "It was emptied since, which the status has, and then deleted.",
			had:    &commonv1beta1.StateSummary{Lineage: "x", Serial: 4},
			opts:   []option{reconciled(availableChecksum)},
			found:  Found{Empty: true},
		},
		"UnrecordedEmptied": {
			reason: "A person has destroyed everything.",
			opts:   []option{available()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 4}, Empty: true},
		},
		"UnrecordedOutputs": {
			reason: "It has no resources.",
			opts:   []option{available()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}},
		},
		"UnrecordedDeleting": {
			reason: "The existing provider has destroyed everything.",
			opts:   []option{reconciled(legacyChecksum), deleting(), func(ws *namespacedv1beta1.Workspace) { RecordAvailable(ws) }},
			found:  Found{Empty: true},
		},
		"Another": {
			reason: "It is the state of another Workspace.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 9, Resources: 1}},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 9, 1 resource)",
		},
		"AnotherEmpty": {
			reason: "Some backends make a new state when they are read.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x"}, Empty: true},
			want:   "is empty, and is another one: expected lineage l (serial 3, 2 resources), found lineage x",
		},
		"OldCopy": {
			reason: "A backup does not have the resources that were created later.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 2, Resources: 2}},
			want:   "is an old copy: expected serial 3 or later of lineage l, found serial 2",
		},
		"OldCopyFewer": {
			reason: "The apply that changed the number of resources has raised the serial, which was not read since.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}},
			want:   "is an old copy: expected 2 resources at serial 3 or later of lineage l, found 1 resource at serial 3",
		},
		"MoreResources": {
			reason: "What an apply has destroyed is not created again.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 3}},
		},
		"OldCopyEmpty": {
			reason: "Some backends make an empty state, with a lineage, before the first apply.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3}, Empty: true},
			want:   "is an old copy: expected 2 resources at serial 3 or later of lineage l, found 0 resources at serial 3",
		},
		"NeverSeenGone": {
			reason: "It was created, but never read since.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			want:   "is gone: expected the one that it was created with, found none",
		},
		"NeverSeenEmpty": {
			reason: "There was a resource.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x"}, Empty: true},
			want:   "is empty: expected the one that it was created with",
		},
		"NeverSeenThere": {
			reason: "Any state that is not empty may be that of the Workspace.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 1}},
		},
		"NeverSeenOutputs": {
			reason: "A state with outputs is not empty.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x"}},
		},
		"Annotated": {
			reason: "A copy has the annotations of the original.",
			opts:   []option{func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, epoch()) }},
		},
		"NewDisk": {
			reason: "It never had a state.",
			found:  Found{OtherDisk: true},
		},
		"Begun": {
			reason: "The state shows how far the creation got.",
			had:    &commonv1beta1.StateSummary{},
			opts:   []option{began(0)},
		},
		"BegunThere": {
			reason: "The state that would show how far the creation got is on another disk.",
			had:    &commonv1beta1.StateSummary{},
			opts:   []option{began(0)},
			found:  Found{OtherDisk: true},
			want:   "is gone: expected the one that it was created with, found none",
		},
		"AgainThere": {
			reason: "The same is true if the last state had no resources.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 7},
			opts:   []option{began(0)},
			found:  Found{OtherDisk: true},
			want:   "is gone: expected lineage l, whose first apply was interrupted, found none",
		},
		"BegunElsewhere": {
			reason: "The apply was killed, and then the name or the backend was changed.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 1},
			opts:   []option{began(0), pending()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}, Empty: true},
			want:   "is empty, and is another one: expected lineage l, whose first apply was interrupted, found lineage x",
		},
		"BegunHere": {
			reason: "The state shows how far the creation got.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 1},
			opts:   []option{began(0), pending()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 1}, Empty: true},
		},
		"FailedElsewhere": {
			reason: "The apply has failed, and the state says that nothing was created. A wrong backend can be corrected.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 1},
			opts:   []option{began(0)},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}, Empty: true},
		},
		"CreatedElsewhere": {
			reason: "The creation succeeded, and what is known of the state has no resources.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 1},
			opts:   []option{began(0), succeeded(), pending()},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1}, Empty: true},
		},
		"DestroyedThere": {
			reason: "The creation succeeded there, and destroyed resources are no longer there.",
			had:    &commonv1beta1.StateSummary{},
			opts:   []option{began(0), succeeded()},
			found:  Found{OtherDisk: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a", tc.opts...)
			if tc.had != nil {
				remembers(*tc.had)(ws)
			}

			got, _ := Lost(ws, tc.found)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLost(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
