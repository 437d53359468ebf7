// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestFlux fetches modules from artifacts of Flux, in its own namespace and another.
func TestFlux(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, elsewhere, shard := c.namespace(t), c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())

	for _, kind := range []string{"GitRepository", "OCIRepository", "Bucket"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			u := newFluxUpstream(t, c, kind, elsewhere, tree{
				"live/main.tf":   "module \"common\" {\n  source = \"../common\"\n}\noutput \"version\" { value = module.common.version }\n",
				"common/main.tf": versionFiles("1")["main.tf"],
			})
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
		})
	}

	t.Run("Lower", func(t *testing.T) {
		t.Parallel()

		u := newFluxUpstream(t, c, "GitRepository", ns, versionFiles("1"))
		u.module = strings.Replace(u.module, "GitRepository", "gitrepository", 1)
		expectReady(t, c, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withUpstream(u)))
	})
}

// TestFluxNotReady checks that the condition names the missing part of a Flux source, and
// that the Workspace continues when it exists.
func TestFluxNotReady(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	create := func(t *testing.T, module string) func(status corev1.ConditionStatus, texts ...string) {
		t.Helper()

		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceFlux, module))

		return func(status corev1.ConditionStatus, texts ...string) {
			t.Helper()
			expectCondition(t, c, ws, xpv2.TypeSynced, status, texts...)
		}
	}

	t.Run("NoObject", func(t *testing.T) {
		t.Parallel()
		create(t, "Bucket::"+ns+"/absent")(corev1.ConditionFalse, "cannot get", "Bucket", "absent", "not found")
	})

	t.Run("NoReference", func(t *testing.T) {
		t.Parallel()
		create(t, "HelmChart::"+ns+"/chart")(corev1.ConditionFalse, "does not refer to a Flux source", `"HelmChart::`+ns+`/chart"`)
	})

	t.Run("NoArtifact", func(t *testing.T) {
		t.Parallel()

		f := c.createFluxSource(t, "OCIRepository", ns)
		expect := create(t, "OCIRepository::"+ns+"/"+f.object.GetName())
		expect(corev1.ConditionFalse, "is not ready", ns+"/"+f.object.GetName())

		data := archive(t, versionFiles("1"))
		d := newDoor(t, &archiveServer{archives: map[string][]byte{"/a.tar.gz": data}})
		f.offer(t, d.url+"/a.tar.gz", digestOf(data))
		expect(corev1.ConditionTrue)
	})

	t.Run("WrongDigest", func(t *testing.T) {
		t.Parallel()

		f := c.createFluxSource(t, "GitRepository", ns)
		data := archive(t, versionFiles("1"))
		d := newDoor(t, &archiveServer{archives: map[string][]byte{"/a.tar.gz": data}})
		f.offer(t, d.url+"/a.tar.gz", digestOf([]byte("something else")))

		expect := create(t, "GitRepository::"+ns+"/"+f.object.GetName())
		expect(corev1.ConditionFalse, "digest")

		f.offer(t, d.url+"/a.tar.gz", digestOf(data))
		expect(corev1.ConditionTrue)
	})
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
