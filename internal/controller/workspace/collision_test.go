// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestOwnsState(t *testing.T) {
	t.Parallel()

	all := xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	late := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionLateInitialize}
	deletes := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete}

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		created  bool
		checksum string
		want     bool
	}{
		"New":        {reason: "nothing is known of it", policies: all},
		"Creator":    {reason: "it made what is there", policies: all, created: true, want: true},
		"Adopter":    {reason: "it was reconciled with what is there", policies: all, checksum: "c", want: true},
		"Observer":   {reason: "it only looks, and has the checksum of an older version", policies: observe, checksum: "c"},
		"Late":       {reason: "there is nothing to initialize late", policies: late, checksum: "c"},
		"Deleter":    {reason: "it may destroy what is there", policies: deletes, checksum: "c", want: true},
		"Pensioner":  {reason: "it made what is there, and only looks by now", policies: observe, created: true, checksum: "c", want: true},
		"NoPolicies": {reason: "management policies may be off", checksum: "c", want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := &namespacedv1beta1.Workspace{}
			ws.SetManagementPolicies(tc.policies)

			o := ws.GetObservation()
			o.Checksum = tc.checksum
			ws.SetObservation(o)

			if tc.created {
				meta.SetExternalCreateSucceeded(ws, time.Now())
			}

			if have := ownsState(ws); have != tc.want {
				t.Errorf("%s: want %t, got %t", tc.reason, tc.want, have)
			}
		})
	}
}
