// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

func TestControllerOptions(t *testing.T) {
	t.Parallel()

	// told has the options of controllers.
	type told struct {
		Workers              int
		Poll, Measure        time.Duration
		Policies, ChangeLogs bool
	}

	cases := map[string]struct {
		reason string
		o      *Options
		want   told
	}{
		"Values": {
			reason: "Every value reaches the controllers.",
			o:      &Options{MaxReconcileRate: 7, PollInterval: 2 * time.Minute, PollStateMetricInterval: 3 * time.Second},
			want:   told{Workers: 7, Poll: 2 * time.Minute, Measure: 3 * time.Second},
		},
		"ManagementPolicies": {
			reason: "The flag enables management policies.",
			o:      &Options{MaxReconcileRate: 1, EnableManagementPolicies: true},
			want:   told{Workers: 1, Policies: true},
		},
		"ChangeLogs": {
			reason: "So does the one of change logs.",
			o:      &Options{MaxReconcileRate: 1, EnableChangeLogs: true, ChangeLogsSocketPath: "/s"},
			want:   told{Workers: 1, ChangeLogs: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			co, closeOptions, err := controllerOptions(tc.o, prometheus.NewRegistry(), logging.NewNopLogger())
			if err != nil {
				t.Fatal(err)
			}
			defer closeOptions()

			got := told{
				Workers:    co.MaxConcurrentReconciles,
				Poll:       co.PollInterval,
				Measure:    co.MetricOptions.PollStateMetricInterval,
				Policies:   co.Features.Enabled(feature.EnableBetaManagementPolicies),
				ChangeLogs: co.Features.Enabled(feature.EnableAlphaChangeLogs) && co.ChangeLogOptions != nil,
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncontrollerOptions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
