// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// testOwnership writes the status of a Workspace whose ownership was changed while a
// reconcile was in progress.
func testOwnership(t *testing.T, live client.Client, cached client.Reader) {
	t.Helper()

	mine, other := &commonv1beta1.Claim{Holder: "host-0_5ad8"}, &commonv1beta1.Claim{Holder: "host-1_1f33"}

	type want struct {
		Conflict  bool
		Ready     bool
		Ownership commonv1beta1.Ownership
	}

	cases := map[string]struct {
		reason string
		had    commonv1beta1.Ownership
		has    commonv1beta1.Ownership
		want   want
	}{
		"Mine": {
			reason: "The status of this instance is merged with the ownership that was written since.",
			had:    commonv1beta1.Ownership{Claim: mine},
			has:    commonv1beta1.Ownership{Claim: mine, PreviousHosts: []string{"host-2"}},
			want:   want{Ready: true, Ownership: commonv1beta1.Ownership{Claim: mine, PreviousHosts: []string{"host-2"}, Lineage: "lineage"}},
		},
		"Erased": {
			reason: "A removed claim does not come back.",
			had:    commonv1beta1.Ownership{Claim: mine, PreviousHosts: []string{"host-2"}},
			has:    commonv1beta1.Ownership{Lineage: "old"},
			want:   want{Ready: true, Ownership: commonv1beta1.Ownership{Lineage: "lineage"}},
		},
		"Another": {
			reason: "This instance has lost the Workspace.",
			had:    commonv1beta1.Ownership{Claim: mine},
			has:    commonv1beta1.Ownership{Claim: other},
			want:   want{Conflict: true, Ownership: commonv1beta1.Ownership{Claim: other}},
		},
		"Taken": {
			reason: "An instance without claims has lost it, too.",
			has:    commonv1beta1.Ownership{Claim: other},
			want:   want{Conflict: true, Ownership: commonv1beta1.Ownership{Claim: other}},
		},
		"LeftAlone": {
			reason: "The claim of a dead instance does not block an instance without claims.",
			had:    commonv1beta1.Ownership{Claim: other},
			has:    commonv1beta1.Ownership{Claim: other},
			want:   want{Ready: true, Ownership: commonv1beta1.Ownership{Claim: other, Lineage: "lineage"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{GenerateName: "claimed-"}}
			ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

			if err := live.Create(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			own := func(o commonv1beta1.Ownership) *clusterv1beta1.Workspace {
				ws.SetOwnership(o)

				if err := live.Status().Update(t.Context(), ws); err != nil {
					t.Fatal(err)
				}

				return ws.DeepCopy()
			}

			read := own(tc.had)
			own(tc.has)
			ws.SetLabels(map[string]string{shardLabel: "b"})

			if err := live.Update(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			o := read.GetOwnership()
			o.Lineage = "lineage"
			read.SetOwnership(o)
			read.SetConditions(xpv2.Available())

			c := NewClient(live, cached)

			err := c.Status().Update(t.Context(), read)
			if err != nil && !kerrors.IsConflict(err) {
				t.Fatal(err)
			}

			latest := &clusterv1beta1.Workspace{}
			if err := live.Get(t.Context(), client.ObjectKeyFromObject(ws), latest); err != nil {
				t.Fatal(err)
			}

			got := want{
				Conflict:  err != nil,
				Ready:     latest.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable,
				Ownership: latest.GetOwnership(),
			}
			got.Ownership.UID = ""

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nStatus().Update(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
