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
			reason: "Who remembers nothing has lost nothing.",
		},
		"Taken": {
			reason: "Who remembers nothing takes what is there.",
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 1}},
		},
		"NothingToLose": {
			reason: "A module without resources has nothing that could be there twice.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
		},
		"NothingToLoseElsewhere": {
			reason: "The same with another state, or an older one.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 7}},
		},
		"Same": {
			reason: "It is there.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}},
		},
		"Newer": {
			reason: "Somebody has worked with it meanwhile.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 4}, Empty: true},
		},
		"Gone": {
			reason: "There is none.",
			had:    had,
			want:   "is gone: expected lineage l (serial 3, 2 resources), found none",
		},
		"Another": {
			reason: "It is that of something else.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 9, Resources: 1}},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 9, 1 resources)",
		},
		"AnotherEmpty": {
			reason: "A backend may make a new one when it is merely asked for one.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x"}, Empty: true},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 0, 0 resources)",
		},
		"OldCopy": {
			reason: "What was created since then is not in a backup.",
			had:    had,
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "l", Serial: 2, Resources: 2}},
			want:   "is an old copy: expected serial 3 or later of lineage l, found serial 2",
		},
		"NeverSeenGone": {
			reason: "It was created, but never looked at since.",
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
			reason: "Any state with something in it may be the one.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  Found{StateSummary: commonv1beta1.StateSummary{Lineage: "x", Serial: 1, Resources: 1}},
		},
		"NeverSeenOutputs": {
			reason: "Outputs are something, too.",
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
		"New":       {reason: "There was nothing yet.", otherDisk: true},
		"Annotated": {reason: "A copy has the annotations of the original.", opts: []option{annotated}},
		"Seen":      {reason: "The status says what was seen.", opts: []option{seen("l")}, want: &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}},
		"SeenBegun": {reason: "What was seen says more than that creation has begun.", opts: []option{seen("l"), began(0)}, otherDisk: true, want: &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1}},
		"Destroyed": {reason: "What was destroyed is not there any more.", opts: []option{remembers(commonv1beta1.StateSummary{}), began(0), succeeded()}, otherDisk: true, want: &commonv1beta1.StateSummary{}},
		"Begun":     {reason: "The state tells how far it came.", opts: []option{remembers(commonv1beta1.StateSummary{}), began(0)}, want: &commonv1beta1.StateSummary{}},
		"BegunThere": {
			reason:    "The state that could tell how far it came is not here.",
			opts:      []option{remembers(commonv1beta1.StateSummary{}), began(0)},
			otherDisk: true,
			want:      something,
		},
		"AgainThere": {
			reason:    "The same for one that had a state without resources.",
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
