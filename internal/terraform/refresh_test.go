// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "testing"

// TestCannotRefresh ensures that people get the way out only of a destroy that has changed nothing because it could not read.
func TestCannotRefresh(t *testing.T) {
	t.Parallel()

	const gone = `{"@level":"error","type":"diagnostic","diagnostic":{"severity":"error","summary":"no matching Thing found","address":"data.cloud_thing.vpc","range":{"filename":"main.tf","start":{"line":11}}}}`

	cases := map[string]struct {
		reason string
		op     string
		lines  []string
		want   bool
	}{
		"Data": {
			reason: "What a data source reads is gone.", op: opDestroy, want: true,
			lines: []string{`{"type":"apply_start","hook":{"resource":{"addr":"data.cloud_thing.vpc"},"action":"read"}}`, gone},
		},
		"Resource": {
			reason: "So is a resource.", op: opDestroy, want: true,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, gone},
		},
		"RemoteState": {
			reason: "Terraform does not name the data source that reads a state.", op: opDestroy, want: true,
			lines: []string{`{"type":"apply_start","hook":{"resource":{"addr":"data.terraform_remote_state.a"},"action":"read"}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Failed to get state: GET http://a.example.org giving up after 1 attempt(s)"}}`},
		},
		"Lock": {
			reason: "The lock is that of its own state.", op: opDestroy,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Error releasing the state lock"}}`},
		},
		"NewerProvider": {
			reason: "The state cannot be read without a refresh, either.", op: opDestroy,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"no schema available for cloud_thing.a while reading state; this is a bug in Terraform and should be reported"}}`},
		},
		"Unsaved": {
			reason: "The state cannot be saved without a refresh, either.", op: opDestroy,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Failed to save state","detail":"Error saving state: HTTP error: 403"}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Failed to persist state to backend"}}`},
		},
		"Evaluation": {
			reason: "The module could not be evaluated with what was read.", op: opDestroy, want: true,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Invalid for_each argument","range":{"filename":"main.tf","start":{"line":2}}}}`},
		},
		"Validation": {
			reason: "Terraform validates values without a refresh, too.", op: opDestroy,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, `{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Invalid value for variable","range":{"filename":"main.tf","start":{"line":2}}}}`},
		},
		"Destroys": {
			reason: "A resource could not be destroyed.", op: opDestroy,
			lines: []string{`{"type":"apply_start","hook":{"resource":{"addr":"cloud_thing.a"},"action":"delete"}}`, gone},
		},
		"Module": {reason: "The module is broken.", op: opDestroy, lines: []string{gone}},
		"Plan": {
			reason: "A plan needs the values.", op: opPlan,
			lines: []string{`{"type":"refresh_start","hook":{"resource":{"addr":"cloud_thing.a"}}}`, gone},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newReport(nil)
			for _, line := range tc.lines {
				r.add([]byte(line))
			}

			err := newError(tc.op, Workspace{}, result{code: 1}, r.errors)
			err.began, err.applies = r.began, r.applies

			if got := CannotRefresh(err); got != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
