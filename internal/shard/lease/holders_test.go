// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// leaseOf returns a Lease with a holder, if any, and the hosts of those before.
func leaseOf(holder, hosts string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	l.Spec.HolderIdentity = &holder

	if hosts != "" {
		l.SetAnnotations(map[string]string{shard.HoldersAnnotationKey: hosts})
	}

	return l
}

func TestHoldersSign(t *testing.T) {
	t.Parallel()

	const identity = "host-0_1f33"

	cases := map[string]struct {
		reason   string
		identity string
		lease    *coordinationv1.Lease
		want     string
	}{
		"First": {
			reason:   "Nobody has held it before.",
			identity: identity,
			lease:    leaseOf(identity, ""),
			want:     "host-0",
		},
		"Next": {
			reason:   "Others have held it before.",
			identity: identity,
			lease:    leaseOf(identity, "host-2,host-1"),
			want:     "host-0,host-2,host-1",
		},
		"Renewed": {
			reason:   "A host is there once.",
			identity: identity,
			lease:    leaseOf(identity, "host-0,host-1"),
			want:     "host-0,host-1",
		},
		"GivenBack": {
			reason:   "Who gives it back has signed it.",
			identity: identity,
			lease:    leaseOf("", "host-0,host-1"),
			want:     "host-0,host-1",
		},
		"NoHost": {
			reason:   "There is nothing to write.",
			identity: "somebody",
			lease:    leaseOf("somebody", "host-1"),
			want:     "host-1",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := &holders{identity: tc.identity}
			h.sign(tc.lease)

			if diff := cmp.Diff(tc.want, tc.lease.GetAnnotations()[shard.HoldersAnnotationKey]); diff != "" {
				t.Errorf("%s\nsign(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
