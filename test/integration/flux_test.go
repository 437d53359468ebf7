// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestFlux fetches a module from an artifact of Flux in another namespace. TestMissingRights has all
// kinds of sources.
func TestFlux(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	u := newFluxUpstream(t, c, "GitRepository", c.namespace(t), tree{
		"live/main.tf":   "module \"common\" {\n  source = \"../common\"\n}\noutput \"version\" { value = module.common.version }\n",
		"common/main.tf": versionFiles("1")["main.tf"],
	})
	u.module = strings.Replace(u.module, "GitRepository", "gitrepository", 1)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withUpstream(u), withEntrypoint("live"))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, versions("1"))
	eventually(t, func() error {
		c.get(t, ws)

		if have := ws.GetObservation().RemoteSource; !strings.HasPrefix(have, u.door.url) {
			return errors.Errorf("want status.atProvider.remoteSource to be the address of the artifact, got %q", have)
		}

		return nil
	})

	c.remove(t, ws)
	expectGone(t, c, ws)
}

// TestFluxNotReady checks that the condition names a Flux source without an artifact, and that the
// Workspace continues when it has one.
func TestFluxNotReady(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)
	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	f := c.createFluxSource(t, "OCIRepository", ns)
	source := ns + "/" + f.object.GetName()
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceFlux, "OCIRepository::"+source))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is not ready", source)

	f.object.Object["status"] = map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "False", "reason": "OCIArtifactPullFailed", "message": "denied: authentication required",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}}
	if err := c.kube.Status().Update(t.Context(), f.object); err != nil {
		t.Fatal(err)
	}

	c.request(t, ws)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "is not ready: denied: authentication required", source)

	data := archive(t, versionFiles("1"))
	d := newDoor(t, &archiveServer{archives: map[string][]byte{"/a.tar.gz": data}})
	f.offer(t, d.url+"/a.tar.gz", digestOf(data))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionTrue)
}

// TestNoCrossNamespaceRefs forbids namespaced Workspaces sources in other
// namespaces. Cluster scoped ones have no namespace of their own.
func TestNoCrossNamespaceRefs(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, elsewhere, shard := c.namespace(t), c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withArgs("--no-cross-namespace-refs"))

	near := newFluxUpstream(t, c, "GitRepository", ns, versionFiles("1"))
	far := newFluxUpstream(t, c, "GitRepository", elsewhere, versionFiles("1"))

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withoutBackend())

		expectReady(t, c, c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withUpstream(near)))

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withUpstream(far))
		if s == clusterScope {
			expectReady(t, c, ws)

			return
		}

		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, far.module, "--no-cross-namespace-refs")

		if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
			t.Errorf("want no run of the CLI, got %q", runs)
		}
	})
}
