// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// owned returns a Workspace with the supplied ownership in its status.
func owned(o *commonv1beta1.Ownership) *clusterv1beta1.Workspace {
	ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "uid"}}
	ws.Status.Ownership = o

	return ws
}

func TestOf(t *testing.T) {
	t.Parallel()

	type want struct {
		Claim Claim
		Host  string
	}

	cases := map[string]struct {
		reason string
		status *commonv1beta1.Ownership
		want   want
	}{
		"Claim": {
			reason: "This provider writes it.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a", Holder: "host-0_5ad8"}},
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "host-0_5ad8"}, Host: "host-0"},
		},
		"UnderscoreInHost": {
			reason: "The random part comes last.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a", Holder: "host_0_5ad8"}},
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "host_0_5ad8"}, Host: "host_0"},
		},
		"NoHost": {
			reason: "An identity of another form names no host.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a", Holder: "somebody"}},
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "somebody"}},
		},
		"Copied": {
			reason: "The instance has claimed another Workspace.",
			status: &commonv1beta1.Ownership{UID: "another", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a", Holder: "host-0_5ad8"}},
		},
		"NoStatus":  {reason: "A new Workspace has no claim."},
		"Unclaimed": {reason: "Other fields do not matter for a claim.", status: &commonv1beta1.Ownership{UID: "uid", Lineage: "lineage"}},
		"NoNamespace": {
			reason: "Without this field, the state of its holder cannot be read.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Lease: "lease-a", Holder: "host-0_5ad8"}},
		},
		"NoLease": {
			reason: "Without this field, the state of its holder cannot be read.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Holder: "host-0_5ad8"}},
		},
		"NoHolder": {
			reason: "A Lease without a holder belongs to no instance.",
			status: &commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := Of(owned(tc.status))
			if diff := cmp.Diff(tc.want, want{Claim: c, Host: session.HostOf(c.Holder)}); diff != "" {
				t.Errorf("%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	t.Parallel()

	claimed := func(holder string) *clusterv1beta1.Workspace {
		return owned(&commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "lease-a", Holder: holder}})
	}

	told := claimed("host-0_5ad8")
	told.SetConditions(xpv2.Available())
	told.Status.Ownership.PreviousHosts = []string{"host-1"}

	cases := map[string]struct {
		reason        string
		before, after client.Object
		want          bool
	}{
		"Taken":     {reason: "This instance has taken it, and has begun its work.", before: owned(nil), after: claimed("host-0_5ad8")},
		"Released":  {reason: "An instance that waits can take it.", before: claimed("host-0_5ad8"), after: owned(nil), want: true},
		"Other":     {reason: "Another instance has claimed it.", before: claimed("host-0_5ad8"), after: claimed("host-1_1f33"), want: true},
		"Status":    {reason: "Instances write the status all the time during their work.", before: claimed("host-0_5ad8"), after: told},
		"Unclaimed": {reason: "There never was a claim.", before: owned(nil), after: owned(&commonv1beta1.Ownership{UID: "uid", Lineage: "lineage"})},
		"NoClaims":  {reason: "Objects of other kinds have no claim.", before: &corev1.Secret{}, after: &corev1.Secret{}},
	}

	c := &Claims{me: Claim{Namespace: "ns", Lease: "lease-a", Holder: "host-0_5ad8"}}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := c.Changed().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("%s\nChanged().Update(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAddHost(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		hosts  []string
		host   string
		want   []string
	}{
		"First":  {reason: "The list is empty.", host: "h0", want: []string{"h0"}},
		"Latest": {reason: "The latest comes first.", hosts: []string{"h0"}, host: "h1", want: []string{"h1", "h0"}},
		"Again":  {reason: "A host is listed once.", hosts: []string{"h2", "h1", "h0"}, host: "h1", want: []string{"h1", "h2", "h0"}},
		"Full":   {reason: "The list must not grow without limit.", hosts: []string{"h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1", "h0"}, host: "h10", want: []string{"h10", "h9", "h8", "h7", "h6", "h5", "h4", "h3", "h2", "h1"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, addHost(tc.hosts, tc.host)); diff != "" {
				t.Errorf("%s\naddHost(%q, %q): -want, +got:\n%s", tc.reason, tc.hosts, tc.host, diff)
			}
		})
	}
}
