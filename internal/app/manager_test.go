// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

func TestWithWorkspaces(t *testing.T) {
	t.Parallel()

	other := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Other"}
	discovered := meta.NewDefaultRESTMapper(nil)
	discovered.Add(other, meta.RESTScopeNamespace)

	cases := map[string]struct {
		reason string
		gvk    schema.GroupVersionKind
		scope  meta.RESTScopeName
		found  bool
	}{
		"Cluster":    {reason: "known before its CRD exists", gvk: clusterv1beta1.WorkspaceGroupVersionKind, scope: meta.RESTScopeNameRoot, found: true},
		"Namespaced": {reason: "known before its CRD exists", gvk: namespacedv1beta1.WorkspaceGroupVersionKind, scope: meta.RESTScopeNameNamespace, found: true},
		"Other":      {reason: "the API server knows it", gvk: other, scope: meta.RESTScopeNameNamespace, found: true},
		"Unknown":    {reason: "unknown to the API server", gvk: schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Unknown"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := withWorkspaces(discovered).RESTMapping(tc.gvk.GroupKind(), tc.gvk.Version)
			if !tc.found {
				if !meta.IsNoMatchError(err) {
					t.Errorf("%s: want no match, got %v", tc.reason, err)
				}

				return
			}

			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.scope, m.Scope.Name()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
