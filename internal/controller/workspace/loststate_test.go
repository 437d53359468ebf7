// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withState makes a Workspace remember a state.
func withState(ws *clusterv1beta1.Workspace, s *commonv1beta1.StateSummary) *clusterv1beta1.Workspace {
	o := ws.GetObservation()
	o.State = s
	ws.SetObservation(o)

	return ws
}

func TestLost(t *testing.T) {
	t.Parallel()

	had := &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}
	some := map[string]terraform.Output{"o": {}}

	cases := map[string]struct {
		reason string
		had    *commonv1beta1.StateSummary
		found  terraform.State
		want   string
	}{
		"New": {
			reason: "Who remembers nothing has lost nothing.",
		},
		"Taken": {
			reason: "Who remembers nothing takes what is there.",
			found:  terraform.State{Lineage: "x", Serial: 1, Managed: 1},
		},
		"NothingToLose": {
			reason: "A module without resources has nothing that could be there twice.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
		},
		"NothingToLoseElsewhere": {
			reason: "The same with another state, or an older one.",
			had:    &commonv1beta1.StateSummary{Lineage: "l", Serial: 3},
			found:  terraform.State{Lineage: "x", Serial: 1, Managed: 7},
		},
		"Same": {
			reason: "It is there.",
			had:    had,
			found:  terraform.State{Lineage: "l", Serial: 3, Managed: 2},
		},
		"Newer": {
			reason: "Somebody has worked with it meanwhile.",
			had:    had,
			found:  terraform.State{Lineage: "l", Serial: 4},
		},
		"Gone": {
			reason: "There is none.",
			had:    had,
			want:   "is gone: expected lineage l (serial 3, 2 resources), found none",
		},
		"Another": {
			reason: "It is that of something else.",
			had:    had,
			found:  terraform.State{Lineage: "x", Serial: 9, Managed: 1},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 9, 1 resources)",
		},
		"AnotherEmpty": {
			reason: "A backend may make a new one when it is merely asked for one.",
			had:    had,
			found:  terraform.State{Lineage: "x"},
			want:   "is another one: expected lineage l (serial 3, 2 resources), found lineage x (serial 0, 0 resources)",
		},
		"OldCopy": {
			reason: "What was created since then is not in a backup.",
			had:    had,
			found:  terraform.State{Lineage: "l", Serial: 2, Managed: 2},
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
			found:  terraform.State{Lineage: "x"},
			want:   "is empty: expected the one that it was created with",
		},
		"NeverSeenThere": {
			reason: "Any state with something in it may be the one.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  terraform.State{Lineage: "x", Serial: 1, Resources: 1, Managed: 1},
		},
		"NeverSeenOutputs": {
			reason: "Outputs are something, too.",
			had:    &commonv1beta1.StateSummary{Resources: 1},
			found:  terraform.State{Lineage: "x", Outputs: some},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, lost(tc.had, &tc.found)); diff != "" {
				t.Errorf("\n%s\nlost(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRemembered(t *testing.T) {
	t.Parallel()

	seen := &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2}

	cases := map[string]struct {
		reason  string
		state   *commonv1beta1.StateSummary
		created bool
		want    *commonv1beta1.StateSummary
	}{
		"New":         {reason: "There was nothing yet."},
		"Seen":        {reason: "The status says what was seen.", state: seen, want: seen},
		"SeenCreated": {reason: "What was seen says more than that there was something.", state: seen, created: true, want: seen},
		"Destroyed":   {reason: "What was destroyed is not there any more.", state: &commonv1beta1.StateSummary{}, created: true, want: &commonv1beta1.StateSummary{}},
		"Created":     {reason: "It was created by an instance that could not say more.", created: true, want: &commonv1beta1.StateSummary{Resources: 1}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := withState(workspaceWithUID("a"), tc.state)
			if tc.created {
				meta.SetExternalCreateSucceeded(ws, time.Now())
			}

			if diff := cmp.Diff(tc.want, remembered(ws)); diff != "" {
				t.Errorf("\n%s\nremembered(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLostState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		had     commonv1beta1.StateSummary
		found   terraform.State
		accept  string
		backend bool
		want    []string
		not     string
	}{
		"Backend": {
			reason:  "People learn what to do.",
			had:     commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			backend: true,
			want:    []string{`"tw" is gone`, "Nothing was changed", workspace.AcceptLostStateAnnotationKey + "=l"},
			not:     "disk",
		},
		"Disk": {
			reason: "Without a backend it is where nobody would look.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			want:   []string{"no backend", "on the disk"},
		},
		"UnknownLineage": {
			reason: "There is a way to accept what was never seen, too.",
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
			reason: "What was accepted was the loss of an earlier one.",
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
			reason: "What is accepted is this copy.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 6},
			want:   []string{"is an old copy", workspace.AcceptLostStateAnnotationKey + "=l/7"},
		},
		"AcceptedOldCopy": {
			reason: "A person says that there is no newer one.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			found:  terraform.State{Lineage: "l", Serial: 6},
			accept: "l/7",
		},
		"LostAfterOldCopy": {
			reason: "A copy was accepted once, and not that everything is lost.",
			had:    commonv1beta1.StateSummary{Lineage: "l", Serial: 7, Resources: 1},
			accept: "l/7",
			want:   []string{"is gone"},
		},
		"OldCopyAfterLoss": {
			reason: "That everything was lost is not that a copy is good.",
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

			ws := withState(workspaceWithUID("a"), &tc.had)
			meta.SetExternalName(ws, "tw")

			if tc.accept != "" {
				meta.AddAnnotations(ws, map[string]string{workspace.AcceptLostStateAnnotationKey: tc.accept})
			}

			got := ""
			if err := lostState(ws, &tc.found, tc.backend); err != nil {
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
		reason string
		before *commonv1beta1.StateSummary
		did    terraform.Summary
		want   commonv1beta1.StateSummary
	}{
		"First": {
			reason: "There was no state before.",
			did:    terraform.Summary{Add: 2, Import: 1},
			want:   commonv1beta1.StateSummary{Resources: 3},
		},
		"Changed": {
			reason: "The lineage stays, and the serial has grown to something unknown.",
			before: &commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 2},
			did:    terraform.Summary{Add: 1, Change: 1, Destroy: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l", Serial: 3, Resources: 1},
		},
		"MoreThanAll": {
			reason: "What a replacement destroyed may not have been counted.",
			before: &commonv1beta1.StateSummary{Lineage: "l", Resources: 1},
			did:    terraform.Summary{Destroy: 2},
			want:   commonv1beta1.StateSummary{Lineage: "l"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(&tc.want, applied(tc.before, tc.did)); diff != "" {
				t.Errorf("\n%s\napplied(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMayHaveBackend ensures that nobody is sent to look for a state on a disk unless
// it can only have been there.
func TestMayHaveBackend(t *testing.T) {
	t.Parallel()

	backend := "terraform {\n  backend \"kubernetes\" {}\n}\n"

	cases := map[string]struct {
		reason string
		source commonv1beta1.ModuleSource
		module string
		config commonv1beta1.ProviderConfigSpec
		want   bool
	}{
		"None":          {reason: "Nothing declares a backend.", source: commonv1beta1.ModuleSourceInline},
		"Inline":        {reason: "The module declares one.", source: commonv1beta1.ModuleSourceInline, module: backend, want: true},
		"Configuration": {reason: "The configuration declares one.", source: commonv1beta1.ModuleSourceInline, config: commonv1beta1.ProviderConfigSpec{Configuration: &backend}, want: true},
		"Remote":        {reason: "The module may declare one.", source: commonv1beta1.ModuleSourceRemote, want: true},
		"Flux":          {reason: "The module may declare one.", source: commonv1beta1.ModuleSourceFlux, want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: tc.source, Module: tc.module}}
			if got := mayHaveBackend(p, tc.config); got != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
