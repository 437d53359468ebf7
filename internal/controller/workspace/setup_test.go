// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"

	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
)

func TestPolicyOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		policies bool
	}{
		"ManagementPolicies":   {reason: "An empty set pauses a Workspace, as in the managed reconciler.", policies: true},
		"NoManagementPolicies": {reason: "An empty set is the default, as in the managed reconciler."},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := Options{Options: controller.Options{PollInterval: time.Hour, Features: &feature.Flags{}}, PollJitter: time.Minute}
			if tc.policies {
				o.Features.Enable(feature.EnableBetaManagementPolicies)
			}

			want := schedule.Policy{Interval: time.Hour, Jitter: time.Minute, ManagementPolicies: tc.policies}
			if diff := cmp.Diff(want, policyOf(o)); diff != "" {
				t.Errorf("\n%s\npolicyOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
