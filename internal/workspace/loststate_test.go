// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestLost(t *testing.T) {
	t.Parallel()

	had := &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}

	cases := map[string]struct {
		reason string
		had    *commonv1beta1.StateSummary
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
		"Another": {
			reason: "It is the state of another Workspace.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 9, Resources: 1}},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 9, 1 resources)",
		},
		"AnotherEmpty": {
			reason: "Some backends make a new state when they are read.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x"}, Empty: true},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 0, 0 resources)",
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
			want:   "is an old copy: expected 2 resources and a serial after 3 of lineage l, found 1",
		},
		"OldCopyMore": {
			reason: "The same is true of an apply that destroyed resources.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 3}},
			want:   "is an old copy: expected 2 resources and a serial after 3 of lineage l, found 3",
		},
		"OldCopyEmpty": {
			reason: "Some backends make an empty state, with a lineage, before the first apply.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3}, Empty: true},
			want:   "is an old copy: expected 2 resources and a serial after 3 of lineage l, found 0",
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
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Lost(tc.had, tc.found)); diff != "" {
				t.Errorf("\n%s\nLost(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRemembered(t *testing.T) {
	t.Parallel()

	annotated := func(ws *namespacedv1beta1.Workspace) { meta.SetExternalCreateSucceeded(ws, epoch()) }
	something := &commonv1beta1.StateSummary{Resources: 1}

	cases := map[string]struct {
		reason    string
		opts      []option
		otherDisk bool
		want      *commonv1beta1.StateSummary
	}{
		"New":       {reason: "It never had a state.", otherDisk: true},
		"Annotated": {reason: "A copy has the annotations of the original.", opts: []option{annotated}},
		"Seen":      {reason: "The status has the last observed state.", opts: []option{seen("l")}, want: &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}},
		"SeenBegun": {reason: "The observed state takes precedence over a creation that has begun.", opts: []option{seen("l"), began(0)}, otherDisk: true, want: &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}},
		"Destroyed": {reason: "Destroyed resources are no longer there.", opts: []option{remembers(commonv1beta1.StateSummary{}), began(0), succeeded()}, otherDisk: true, want: &commonv1beta1.StateSummary{}},
		"Begun":     {reason: "The state shows how far the creation got.", opts: []option{remembers(commonv1beta1.StateSummary{}), began(0)}, want: &commonv1beta1.StateSummary{}},
		"BegunThere": {
			reason:    "The state that would show how far the creation got is on another disk.",
			opts:      []option{remembers(commonv1beta1.StateSummary{}), began(0)},
			otherDisk: true,
			want:      something,
		},
		"AgainThere": {
			reason:    "The same is true if the last state had no resources.",
			opts:      []option{remembers(commonv1beta1.StateSummary{Lineage: "l", Serial: 7}), began(0)},
			otherDisk: true,
			want:      &commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Remembered(newWorkspace("a", tc.opts...), tc.otherDisk)); diff != "" {
				t.Errorf("\n%s\nRemembered(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
