// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

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
		err    error
		// background has the names of the programs that the run has started in the background.
		background []string
		outputs    []string
		planless   bool
		want       []string
		result     string
	}{
		"Short": {
			reason: "A short run needs no progress.",
			steps:  []step{say("apply_start", "a.b", 29*time.Second)},
			result: "Applied in 29 s: 0 added, 0 changed, 0 destroyed",
		},
		"Outputs": {
			reason:  "A run that changes no resource has changed outputs.",
			outputs: []string{"greeting", "name"},
			result:  "Applied in 0 s: only outputs changed: greeting, name",
		},
		"ResourcesAndOutputs": {
			reason:  "Outputs follow resources.",
			steps:   []step{say("apply_start", "a.b", 0), say("apply_complete", "a.b", time.Second)},
			outputs: []string{"greeting"},
			result:  "Applied in 1 s: 1 added, 0 changed, 0 destroyed",
		},
		"Long": {
			reason: "A long run reports after 30 seconds, and then at intervals that double.",
			steps: []step{
				say("apply_start", "a.b", time.Second), say("apply_start", "c.d", 20*time.Second), say("apply_complete", "a.b", 10*time.Second),
				say("apply_progress", "c.d", 10*time.Second), say("apply_complete", "c.d", 20*time.Second), say("apply_start", "e.f", 30*time.Second),
			},
			want:   []string{"ApplyProgress: Applying for 30 s: 1 of 3 done; creating c.d", "ApplyProgress: Applying for 1m30s: 2 of 3 done; creating e.f"},
			result: "Applied in 1m31s: 2 added, 0 changed, 0 destroyed",
		},
		"Silent": {
			reason: "The CLI reports nothing more of a resource that takes long. Not more Events are made than the recorder of client-go takes.",
			steps:  []step{say("apply_start", "a.b", 21*time.Minute)},
			want: []string{
				"ApplyProgress: Applying for 30 s: 0 of 3 done; creating a.b", "ApplyProgress: Applying for 1m30s: 0 of 3 done; creating a.b", "ApplyProgress: Applying for 3m30s: 0 of 3 done; creating a.b",
				"ApplyProgress: Applying for 7m30s: 0 of 3 done; creating a.b", "ApplyProgress: Applying for 12m30s: 0 of 3 done; creating a.b", "ApplyProgress: Applying for 17m30s: 0 of 3 done; creating a.b",
			},
			result: "Applied in 21m0s: 0 added, 0 changed, 0 destroyed",
		},
		"Oldest": {
			reason: "Of many resources, the report names the one that takes longest.",
			steps:  []step{say("apply_start", "a.b", 0), say("apply_start", "c.d", 0), say("apply_progress", "c.d", 31*time.Second)},
			want:   []string{"ApplyProgress: Applying for 30 s: 0 of 3 done; creating a.b"},
			result: "Applied in 31 s: 0 added, 0 changed, 0 destroyed",
		},
		"Continued": {
			reason: "The failure of a provisioner may not count.",
			steps:  []step{say("apply_start", "a.b", 0), say("provision_errored", "a.b", 0), say("apply_complete", "a.b", time.Second)},
			err:    errors.New("failed"),
			want:   []string{"AppliedChanges: Failed: 1 added, 0 changed, 0 destroyed: create a.b"},
			result: "Failed: 1 added, 0 changed, 0 destroyed: create a.b",
		},
		"Tainted": {
			reason: "A resource exists whose provisioner failed.",
			steps:  []step{say("apply_start", "a.b", 0), say("provision_errored", "a.b", 0), say("apply_errored", "a.b", time.Second)},
			err:    errors.New("failed"),
			want:   []string{"AppliedChanges: Failed: 0 added, 0 changed, 0 destroyed; created, but a provisioner failed, so that the next apply creates it once more: a.b"},
			result: "Failed: 0 added, 0 changed, 0 destroyed; created, but a provisioner failed, so that the next apply creates it once more: a.b",
		},
		"HalfWay": {
			reason: "What a failed run has done is told.",
			steps:  []step{say("apply_start", "a.b", 0), say("apply_complete", "a.b", 1250*time.Millisecond), say("apply_start", "c.d", 0), say("apply_errored", "c.d", 0)},
			err:    errors.New("boom"),
			want:   []string{"AppliedChanges: Failed: 1 added, 0 changed, 0 destroyed: create a.b"},
			result: "Failed: 1 added, 0 changed, 0 destroyed: create a.b",
		},
		"Background": {
			reason:     "The run may wait for other programs than the CLI.",
			steps:      []step{say("apply_start", "a.b", 31*time.Second)},
			background: []string{"a", "b", "c", "d"},
			want:       []string{`ApplyProgress: Applying for 30 s: 0 of 3 done; creating a.b; a provisioner may wait for what it has started in the background: ["a" "b" "c"]`},
			result:     "Applied in 31 s: 0 added, 0 changed, 0 destroyed",
		},
		"Read": {
			reason: "A data source that was read is nothing that was done.",
			steps: []step{
				{progress: terraform.Progress{Event: "apply_start", Action: "read", Address: "data.a.b"}}, {progress: terraform.Progress{Event: "apply_complete", Action: "read", Address: "data.a.b"}},
			},
			err: errors.New("boom"),
		},
		"PlanOfItsOwn": {
			reason:   "No plan tells what a run with a plan of its own does.",
			steps:    []step{say("apply_start", "a.b", 0), say("apply_complete", "a.b", time.Second)},
			planless: true,
			result:   "Applied in 1 s: 1 added, 0 changed, 0 destroyed: create a.b",
		},
		"Failed": {
			reason: "A failed resource is not done, and the run does not wait for it.",
			steps:  []step{say("apply_start", "a.b", 0), say("apply_errored", "a.b", 31*time.Second)},
			want:   []string{"ApplyProgress: Applying for 30 s: 0 of 3 done"},
			err:    errors.New("boom"),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var got []string

				recorder := recorderFunc(func(e event.Event) {
					got = append(got, string(e.Reason)+": "+e.Message)
				})

				e := newAttempt(t, with())
				e.recorder = recorder
				e.runner.background = tc.background

				done, err := e.withProgress(e.ws, e.runner, &progress{total: 3, outputs: tc.outputs, planless: tc.planless}, func(report func(terraform.Progress)) error {
					for _, s := range tc.steps {
						report(s.progress)
						time.Sleep(s.silence)
					}

					return tc.err
				})
				if !errors.Is(err, tc.err) {
					t.Error(err)
				}

				if diff := cmp.Diff(tc.result, done); diff != "" {
					t.Errorf("%s\nresult: -want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}
