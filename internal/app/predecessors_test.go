// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/claim"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// TestIsServed ensures that an instance may be working on a Workspace if it has claimed it and is
// not known to be dead. This is true on its host only.
func TestIsServed(t *testing.T) {
	t.Parallel()

	const me, other, dead = "pod-0_me", "pod-1_other", "pod-1_dead"

	const name = "crossplane-leader-election-provider-terraform-b"

	held := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       new(other),
			LeaseDurationSeconds: new(int32(60)),
			RenewTime:            &metav1.MicroTime{Time: time.Now()},
		},
	}
	// The Lease names its earlier holder, which is dead.
	held.SetAnnotations(map[string]string{"terraform.crossplane.io/holders": other + "," + dead})

	cases := map[string]struct {
		reason string
		claim  *commonv1beta1.Claim
		host   string
		want   bool
	}{
		"Alive":     {reason: "It may have locked the state.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: other}, host: "pod-1", want: true},
		"OtherHost": {reason: "It is on another host.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: other}, host: "pod-2"},
		"Itself":    {reason: "This instance knows its own work.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: me}, host: "pod-0"},
		"Dead":      {reason: "Its successor holds the Lease.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: name, Holder: dead}, host: "pod-1"},
		"Unknown":   {reason: "It may be alive: its Lease was deleted.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "gone", Holder: other}, host: "pod-1", want: true},
		"NoClaim":   {reason: "No instance has claimed it.", host: "pod-1"},
	}

	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			t.Parallel()

			kube := fake.NewClientBuilder().WithObjects(held.DeepCopy()).Build()
			timing := lease.Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 5 * time.Second}
			i := &instance{identity: me, claims: &claim.Claims{}, leases: lease.NewObserver(kube, "ns", timing, logging.NewNopLogger())}

			ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
			ws.SetOwnership(commonv1beta1.Ownership{Claim: tc.claim})

			if got := i.isServed(t.Context(), ws, tc.host); got != tc.want {
				t.Errorf("\n%s\nisServed(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
