// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestServerSideApply applies a manifest with empty values twice, as kubectl apply --server-side does, and then without
// the lists of the first one. The provider changes nothing in a specification, and owns nothing there.
func TestServerSideApply(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	for _, s := range []scope{clusterScope, namespacedScope} {
		t.Run(string(s), func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, s, ns, withBackend(ns, "ssa-"+strings.ToLower(string(s))))
			ws := newWorkspace(s, ns, inShard(shard), withConfig(cfg), withModule(`variable "region" { default = "none" }
output "region" { value = var.region }`))

			gvk, err := c.kube.GroupVersionKindFor(ws)
			if err != nil {
				t.Fatal(err)
			}

			typed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
			if err != nil {
				t.Fatal(err)
			}

			ref, _, _ := unstructured.NestedMap(typed, "spec", "providerConfigRef")
			module := ws.GetParameters().Module

			apply := func(more map[string]any) *unstructured.Unstructured {
				params := map[string]any{"source": "Inline", "module": module}
				maps.Copy(params, more)

				o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerConfigRef": ref, "forProvider": params}}}
				o.SetGroupVersionKind(gvk)
				o.SetName(ws.GetName())
				o.SetNamespace(ws.GetNamespace())
				o.SetLabels(ws.GetLabels())

				if err := c.kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl")); err != nil {
					t.Fatal(err)
				}

				return o
			}

			params := map[string]any{
				"env":  []any{map[string]any{"name": "TF_VAR_region", "value": "eu"}, map[string]any{"name": "EMPTY", "value": ""}},
				"vars": []any{}, "varFiles": []any{}, "planArgs": []any{}, "enableTerraformCLILogging": false,
			}

			apply(params)
			c.discard(t, ws)
			expectReady(t, c, ws)
			expectOutputs(t, c, ws, map[string]string{"region": `"eu"`})

			got := apply(params)
			stored, _, _ := unstructured.NestedMap(got.Object, "spec", "forProvider")

			for key, want := range params {
				if diff := cmp.Diff(want, stored[key]); diff != "" {
					t.Errorf("spec.forProvider.%s: -want, +got:\n%s", key, diff)
				}
			}

			if got.GetGeneration() != 1 {
				t.Errorf("want generation 1, got %d: the specification was changed", got.GetGeneration())
			}

			apply(nil)
			expectOutputs(t, c, ws, map[string]string{"region": `"none"`})
		})
	}
}
