// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestReconcileMetrics counts what was reported of creations, of updates, and of drift.
func TestReconcileMetrics(t *testing.T) {
	t.Parallel()

	drift := changes()
	drift.Drift = []string{"a.b"}
	drift.CorrectsDrift = true

	create := func(ctx context.Context, r *attempt) error {
		_, err := r.Create(ctx, r.ws)

		return err
	}
	update := func(ctx context.Context, r *attempt) error {
		_, err := r.Update(ctx, r.ws)

		return err
	}
	// Observe it once more, as the next poll does.
	observe := func(ctx context.Context, r *attempt) error {
		if err := r.observeInConnect(ctx, r.ws); err != nil {
			return err
		}

		_, err := r.Observe(ctx, r.ws)

		return err
	}

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		plan   terraform.Plan
		prior  terraform.State
		err    error
		do     func(ctx context.Context, r *attempt) error
		want   counts
	}{
		"Created": {
			reason: "What the Workspace asks for exists.",
			ws:     with(),
			plan:   changes(),
			do:     create,
			want:   counts{"test ready"},
		},
		"NotCreated": {
			reason: "The apply has failed.",
			ws:     with(),
			plan:   changes(),
			err:    errors.New("boom"),
			do:     create,
			want:   counts{},
		},
		"Updated": {
			reason: "A change by a person is no drift.",
			ws:     with(owner),
			plan:   changes(),
			prior:  ownState(),
			do:     update,
			want:   counts{"test ready"},
		},
		"Corrected": {
			reason: "A drift was corrected.",
			ws:     with(owner),
			plan:   drift,
			prior:  ownState(),
			do:     update,
			want:   counts{"drift corrected", "test ready"},
		},
		"NotCorrected": {
			reason: "The drift is still there.",
			ws:     with(owner),
			plan:   drift,
			prior:  ownState(),
			err:    errors.New("boom"),
			do:     update,
			want:   counts{},
		},
		"Unchanged": {
			reason: "There was nothing to do, and the next poll is no change.",
			ws:     with(owner),
			prior:  ownState(),
			do:     observe,
			want:   counts{"test ready"},
		},
		"Reported": {
			reason: "A drift that may not be corrected counts once.",
			ws:     with(owner, policies(xpv2.ManagementActionObserve)),
			plan:   drift,
			prior:  ownState(),
			do:     observe,
			want:   counts{"drift reported"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			r.runner.applied, r.runner.applyErr = &terraform.Applied{Outputs: map[string]terraform.Output{}}, tc.err
			r.observed(t, tc.plan, tc.prior)

			if err := tc.do(t.Context(), r); !errors.Is(err, tc.err) {
				t.Errorf("%s\nwant error %v, got %v", tc.reason, tc.err, err)
			}

			// The next reconcile finds nothing to do.
			for range 2 {
				if tc.err == nil {
					r.succeed(t)
				}
			}

			if diff := cmp.Diff(tc.want, *r.counts); diff != "" {
				t.Errorf("\n%s\nmetrics: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
