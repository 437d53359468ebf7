// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func newUsage(name, kind string, owners ...metav1.OwnerReference) *namespacedv1beta1.ProviderConfigUsage {
	u := &namespacedv1beta1.ProviderConfigUsage{}
	u.Name = name
	u.Labels = map[string]string{xpv2.LabelKeyProviderName: "config"}
	u.OwnerReferences = owners
	u.ProviderConfigReference = xpv2.ProviderConfigReference{Kind: kind, Name: "config"}

	if kind != "" {
		u.Labels[xpv2.LabelKeyProviderKind] = kind
	}

	return u
}

func TestCompactUsages(t *testing.T) {
	t.Parallel()

	owner := metav1.OwnerReference{UID: "other"}
	controller := metav1.OwnerReference{UID: "uid", Controller: new(true)}
	received := func(name, kind string, owners ...metav1.OwnerReference) *namespacedv1beta1.ProviderConfigUsage {
		u := newUsage(name, kind, owners...)
		u.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "provider"}}
		u.Labels["team"] = "blue"
		u.ResourceReference = xpv2.TypedReference{APIVersion: "v1", Kind: "Workspace", Name: "ws"}

		for i := range u.OwnerReferences {
			u.OwnerReferences[i].Name = "ws"
		}

		return u
	}
	cached := newUsage("cached", ofCluster, controller)
	cached.Labels["team"] = "blue"

	cases := map[string]struct {
		reason string
		usage  any
		want   any
	}{
		"Used":      {reason: "The ProviderConfig and the controller are read, so they stay.", usage: received("a", ofCluster, owner, controller), want: newUsage("a", ofCluster, controller)},
		"Namespace": {reason: "The labels are those of the ProviderConfig of the usage.", usage: received("a", ofNamespace, controller), want: newUsage("a", ofNamespace, controller)},
		"Legacy":    {reason: "Usages of the cluster scoped group do not have the kind.", usage: received("a", "", controller), want: newUsage("a", "", controller)},
		"Stale":     {reason: "A usage without a controller has none in the cache either.", usage: received("a", ofCluster), want: newUsage("a", ofCluster)},
		"Cached":    {reason: "An object in the cache does not change.", usage: cached.DeepCopy(), want: cached},
		"Other":     {reason: "Other objects have another transform.", usage: "other", want: "transformed"},
	}

	// Usages of one ProviderConfig share their labels, so that all cases use one transform.
	transform := CompactUsages(func(any) (any, error) { return "transformed", nil })

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := transform(tc.usage)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCompactUsages(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
