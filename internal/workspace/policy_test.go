// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

func TestPolicies(t *testing.T) {
	t.Parallel()

	type answers struct{ OnlyObserves, MayCreate, MayUpdate, MayDelete bool }

	cases := map[string]struct {
		policies xpv2.ManagementPolicies
		want     answers
	}{
		"None":           {want: answers{MayCreate: true, MayUpdate: true, MayDelete: true}},
		"All":            {policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}, want: answers{MayCreate: true, MayUpdate: true, MayDelete: true}},
		"Observe":        {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve}, want: answers{OnlyObserves: true}},
		"LateInitialize": {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize}, want: answers{OnlyObserves: true}},
		"Create":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}, want: answers{MayCreate: true}},
		"Update":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}, want: answers{MayUpdate: true}},
		"Delete":         {policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete}, want: answers{MayDelete: true}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := newWorkspace("a")
			ws.Spec.ManagementPolicies = tc.policies

			got := answers{OnlyObserves: OnlyObserves(ws), MayCreate: MayCreate(ws), MayUpdate: MayUpdate(ws), MayDelete: MayDelete(ws)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestMayDeleteOrphan has Workspaces whose deletion policy is Orphan.
func TestMayDeleteOrphan(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		want     bool
	}{
		"None":   {reason: "Nothing else is said."},
		"All":    {reason: "The default management policies do not contradict.", policies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
		"Delete": {reason: "Other management policies take precedence.", policies: xpv2.ManagementPolicies{xpv2.ManagementActionDelete}, want: true},
		"Create": {reason: "Both say so.", policies: xpv2.ManagementPolicies{xpv2.ManagementActionCreate}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &clusterv1beta1.Workspace{}
			ws.SetDeletionPolicy(xpv2.DeletionOrphan)
			ws.SetManagementPolicies(tc.policies)

			if got := MayDelete(ws); got != tc.want {
				t.Errorf("%s\nMayDelete(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
