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

func TestHoldersSign(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// read is the last read Lease.
		read *coordinationv1.Lease
		// holder that is written.
		holder string
		want   map[string]string
	}{
		"First": {reason: "There was no holder before.", holder: me, want: map[string]string{shard.HoldersAnnotationKey: me}},
		"Next": {
			reason: "There were other holders before, and it was not released since.",
			read:   newLease(signedBy(rival+","+old), releasedBy(rival)),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + "," + rival + "," + old},
		},
		"Unsigned": {
			reason: "A holder without signature held it before.",
			read:   newLease(heldBy(rival)), holder: me, want: map[string]string{shard.HoldersAnnotationKey: me + "," + rival},
		},
		"Renewed": {
			reason: "Each name is listed once.",
			read:   newLease(signedBy(me + "," + old)), holder: me, want: map[string]string{shard.HoldersAnnotationKey: me + "," + old},
		},
		"Released": {
			reason: "The Lease names the holder that released it.",
			read:   newLease(signedBy(me + "," + old)), want: map[string]string{shard.HoldersAnnotationKey: me + "," + old, shard.ReleasedAnnotationKey: me},
		},
		"Many": {
			reason: "At most ten holders are listed.",
			read:   newLease(heldBy(""), signedBy("a,b,c,d,e,f,g,h,i,j,k")),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + ",a,b,c,d,e,f,g,h,i"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newLock(&apiClient{}, namespace, "lease", me, Timing{}, nil, nil, LockOptions{Files: noProcessFiles{}})
			h.read(tc.read)

			l := &coordinationv1.Lease{}
			if tc.read != nil {
				l = tc.read.DeepCopy()
			}

			l.Spec.HolderIdentity = &tc.holder
			h.sign(l)

			if diff := cmp.Diff(tc.want, l.GetAnnotations()); diff != "" {
				t.Errorf("%s\nsign(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
