// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestProgress(t *testing.T) {
	t.Parallel()

	type step struct {
		after    time.Duration
		progress terraform.Progress
	}

	created := func(after time.Duration) step {
		return step{after: after, progress: terraform.Progress{Event: "apply_complete", Address: "a.b", Action: "create"}}
	}
	waiting := func(after time.Duration) step {
		return step{after: after, progress: terraform.Progress{Event: "apply_progress", Address: "c.d", Action: "update"}}
	}

	cases := map[string]struct {
		reason string
		steps  []step
		want   []string
	}{
		"Short": {
			reason: "A run that is over soon needs no progress.",
			steps:  []step{created(0), waiting(29 * time.Second), created(29*time.Second + 999*time.Millisecond)},
		},
		"Long": {
			reason: "A long one tells how far it is, twice a minute at most.",
			steps: []step{
				created(10 * time.Second), waiting(30 * time.Second), waiting(40 * time.Second),
				created(59 * time.Second), created(60 * time.Second), waiting(61 * time.Second), created(90 * time.Second),
			},
			want: []string{"1 resources done; c.d: update", "3 resources done; a.b: create", "4 resources done; a.b: create"},
		},
		"Silent": {
			reason: "The time between two events counts, not that since the start.",
			steps:  []step{waiting(100 * time.Second), waiting(120 * time.Second), waiting(130 * time.Second)},
			want:   []string{"0 resources done; c.d: update", "0 resources done; c.d: update"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			start := time.Now()
			now := start
			p := newProgress(recorderFunc(func(e event.Event) {
				if diff := cmp.Diff(event.Normal("ApplyProgress", e.Message), e); diff != "" {
					t.Errorf("%s\nEvent(...): -want, +got:\n%s", tc.reason, diff)
				}

				got = append(got, e.Message)
			}), nil, func() time.Time { return now })

			for _, s := range tc.steps {
				now = start.Add(s.after)
				p.report(s.progress)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
