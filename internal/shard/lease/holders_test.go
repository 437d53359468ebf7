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
		// read is the Lease as it was last read.
		read *coordinationv1.Lease
		// holder that is written.
		holder string
		want   map[string]string
	}{
		"First": {
			reason: "Nobody has held it before.",
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me},
		},
		"Next": {
			reason: "Others have held it before, and it has not been released since.",
			read:   newLease(signedBy(somebody+","+old), releasedBy(somebody)),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + "," + somebody + "," + old},
		},
		"Unsigned": {
			reason: "One that signs nothing has held it before.",
			read:   newLease(heldBy(somebody)),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + "," + somebody},
		},
		"Renewed": {
			reason: "A name is there once.",
			read:   newLease(signedBy(me + "," + old)),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + "," + old},
		},
		"Released": {
			reason: "It says who released it.",
			read:   newLease(signedBy(me + "," + old)),
			want:   map[string]string{shard.HoldersAnnotationKey: me + "," + old, shard.ReleasedAnnotationKey: me},
		},
		"Many": {
			reason: "There is room for ten.",
			read:   newLease(heldBy(""), signedBy("a,b,c,d,e,f,g,h,i,j,k")),
			holder: me,
			want:   map[string]string{shard.HoldersAnnotationKey: me + ",a,b,c,d,e,f,g,h,i"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHolders(nil, me, Timing{})
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
