// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestProgress(t *testing.T) {
	t.Parallel()

	// A step is a message of the CLI, and the silence after it.
	type step struct {
		progress terraform.Progress
		silence  time.Duration
	}

	say := func(event, address string, silence time.Duration) step {
		return step{progress: terraform.Progress{Event: event, Address: address, Action: "create"}, silence: silence}
	}

	cases := map[string]struct {
		reason string
		steps  []step
		// background has the names of the programs that the run has started in the background.
		background []string
		want       []string
	}{
		"Short": {
			reason: "A short run needs no progress.",
			steps:  []step{say("apply_start", "a.b", 29*time.Second)},
		},
		"Long": {
			reason: "A long run reports twice a minute.",
			steps: []step{
				say("apply_start", "a.b", time.Second), say("apply_start", "c.d", 20*time.Second), say("apply_complete", "a.b", 10*time.Second),
				say("apply_progress", "c.d", 10*time.Second), say("apply_complete", "c.d", 20*time.Second), say("apply_start", "e.f", 30*time.Second),
			},
			want: []string{"1 resources done; c.d: create", "2 resources done", "2 resources done; e.f: create"},
		},
		"Oldest": {
			reason: "Of many resources, the report names the one that takes longest.",
			steps:  []step{say("apply_start", "a.b", 0), say("apply_start", "c.d", 0), say("apply_progress", "c.d", 31*time.Second)},
			want:   []string{"0 resources done; a.b: create"},
		},
		"Silent": {
			reason: "The CLI reports nothing more of a resource that takes long.",
			steps:  []step{say("apply_start", "a.b", 61*time.Second)},
			want:   []string{"0 resources done; a.b: create", "0 resources done; a.b: create"},
		},
		"Background": {
			reason:     "The run may wait for other programs than the CLI.",
			steps:      []step{say("apply_start", "a.b", 31*time.Second)},
			background: []string{"a", "b", "c", "d"},
			want:       []string{`0 resources done; a.b: create; a provisioner may wait for what it has started in the background: ["a" "b" "c"]`},
		},
		"Failed": {
			reason: "A failed resource is not done, and the run does not wait for it.",
			steps:  []step{say("apply_start", "a.b", 0), say("apply_errored", "a.b", 31*time.Second)},
			want:   []string{"0 resources done"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got []string

				recorder := recorderFunc(func(e event.Event) {
					if diff := cmp.Diff(event.Normal("ApplyProgress", e.Message), e); diff != "" {
						t.Errorf("%s\nEvent(...): -want, +got:\n%s", tc.reason, diff)
					}

					got = append(got, e.Message)
				})

				err := withProgress(recorder, &clusterv1beta1.Workspace{}, func() []string { return tc.background }, func(report func(terraform.Progress)) error {
					for _, s := range tc.steps {
						report(s.progress)
						time.Sleep(s.silence)
					}

					return nil
				})
				if err != nil {
					t.Error(err)
				}

				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}
