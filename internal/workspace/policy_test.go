// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

func TestPolicies(t *testing.T) {
	t.Parallel()

	type answers struct{ OnlyObserves, MayCreate, MayUpdate bool }

	cases := map[string]struct {
		policies xpv2.ManagementPolicies
		want     answers
	}{
		"None":           {want: answers{MayCreate: true, MayUpdate: true}},
		"All":            {policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}, want: answers{MayCreate: true, MayUpdate: true}},
		"Observe":        {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve}, want: answers{OnlyObserves: true}},
		"LateInitialize": {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize}, want: answers{OnlyObserves: true}},
		"Create":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}, want: answers{MayCreate: true}},
		"Update":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}, want: answers{MayUpdate: true}},
		"Delete":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a")
			ws.Spec.ManagementPolicies = tc.policies

			got := answers{OnlyObserves: OnlyObserves(ws), MayCreate: MayCreate(ws), MayUpdate: MayUpdate(ws)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
