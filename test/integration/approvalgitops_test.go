// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A manifest of a Workspace in Git, which a tool applies with server-side apply.
type gitManifest struct {
	manager string
	ws      workspace.Workspace
	config  string
	dir     string
}

// apply the manifest with the supplied module and annotations.
func (m gitManifest) apply(t *testing.T, c *cluster, module string, annotations map[string]any) {
	t.Helper()

	meta := map[string]any{"name": m.ws.GetName(), "namespace": m.ws.GetNamespace(), "labels": map[string]any{shardLabel: m.ws.GetLabels()[shardLabel]}}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}

	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "tf.m.upbound.io/v1beta1", "kind": "Workspace", "metadata": meta,
		"spec": map[string]any{
			"providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": m.config},
			"forProvider": map[string]any{
				"approval": "Destroy", "source": "Inline", "module": module,
				"vars": []any{map[string]any{"key": "dir", "value": m.dir}},
			},
		},
	}}

	if err := c.kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(m.manager), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
}

// TestApprovalByGitOps has tools that apply a manifest again and again, with their field managers. A person approves with
// kubectl, and then with a commit.
func TestApprovalByGitOps(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	for _, manager := range []string{"argocd-controller", "kustomize-controller"} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()

			e := newEvidence(t)
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "gitops-"+strings.Split(manager, "-")[0]))
			m := gitManifest{manager: manager, config: cfg.GetName(), dir: string(e), ws: newWorkspace(namespacedScope, ns, inShard(shard))}
			ws := m.ws

			m.apply(t, c, replacing(t, 1), nil)
			c.discard(t, ws)
			expectReady(t, c, ws)

			m.apply(t, c, replacing(t, 2), nil)
			id := expectPending(t, c, ws, "PlanPending")

			patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, approvePlan, id)
			if err := c.kube.Patch(t.Context(), ws, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-annotate")); err != nil {
				t.Fatal(err)
			}

			// The tool does not undo what a person has set.
			m.apply(t, c, replacing(t, 2), nil)
			expectReason(t, c, ws, awaitingApproval, "Approved")
			expectReady(t, c, ws)
			expectDone(t, e, "created", "destroyed", "created")

			// A commit that approves a plan is another version of the manifest, and perhaps of the module.
			m.apply(t, c, replacing(t, 3), nil)
			id = expectPending(t, c, ws, "ApprovalOutdated")
			m.apply(t, c, "# Approved.\n"+replacing(t, 3), map[string]any{approvePlan: id})
			expectReason(t, c, ws, awaitingApproval, "Approved")
			expectReady(t, c, ws)
			expectDone(t, e, "created", "destroyed", "created", "destroyed", "created")

			// It stays in Git, and approves nothing else.
			m.apply(t, c, replacing(t, 4), map[string]any{approvePlan: id})
			expectPending(t, c, ws, "ApprovalOutdated", id)
			expectDone(t, e, "created", "destroyed", "created", "destroyed", "created")
		})
	}
}
