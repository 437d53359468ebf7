// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// versionFiles are the files of a module that outputs its version.
func versionFiles(version string) tree {
	return tree{"main.tf": `output "version" { value = "` + version + `" }`}
}

// versions are outputs of versionFiles.
func versions(version string) map[string]string {
	return map[string]string{"version": `"` + version + `"`}
}

// TestPullAlways checks for a new version every time, but downloads only a new one.
func TestPullAlways(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())

	both := versionFiles("1")
	both["more.tf"] = `output "more" { value = true }`
	u := newGitUpstream(t, both)

	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withUpstream(u))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"version": `"1"`, "more": "true"})

	downloads := u.door.count()

	for range 2 {
		c.request(t, ws)
	}

	if diff := cmp.Diff(downloads, u.door.count()); diff != "" {
		t.Errorf("downloads while there was nothing new: -want, +got:\n%s", diff)
	}

	// A change of any annotation fetches a new version, long before the next poll. A
	// removed file takes no part in the plan.
	u.publish(t, versionFiles("2"))
	c.annotate(t, ws, "example.org/refresh", "1")
	expectOutputs(t, c, ws, versions("2"))

	if _, err := os.Lstat(filepath.Join(i.workdir(string(ws.GetUID())), "more.tf")); !os.IsNotExist(err) {
		t.Errorf("want the file that was deleted upstream to be gone, got %v", err)
	}

	// An incomplete download does not replace the module.
	u.door.set(doorBreaks)
	u.publish(t, versionFiles("3"))
	c.annotate(t, ws, "crossplane.io/reconcile-requested-at", unique("request"))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot fetch module")
	expectReadable(t, ws.GetCondition(xpv2.TypeSynced))
	expectOutputs(t, c, ws, versions("2"))

	have, err := os.ReadFile(filepath.Join(i.workdir(string(ws.GetUID())), "main.tf"))
	if diff := cmp.Diff(versionFiles("2")["main.tf"], string(have)); diff != "" || err != nil {
		t.Errorf("module after a broken download: %v, -want, +got:\n%s", err, diff)
	}

	// The module is still the requested one.
	if have := ws.GetCondition(xpv2.TypeReady); have.Status != corev1.ConditionTrue {
		t.Errorf("want the Workspace to be ready, got %s", describe(have))
	}

	u.door.set(doorOpen)
	expectOutputs(t, c, ws, versions("3"))
	expectReady(t, c, ws)
}

// TestPullIfNotPresent fetches a missing module only.
func TestPullIfNotPresent(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())

	t.Run("Same", func(t *testing.T) {
		t.Parallel()

		u := newGitUpstream(t, versionFiles("1"))
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withUpstream(u), withPullPolicy(commonv1beta1.RemotePullPolicyIfNotPresent))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, versions("1"))

		if diff := cmp.Diff(1, u.door.count()); diff != "" {
			t.Errorf("downloads: -want, +got:\n%s", diff)
		}

		// There is no request at all.
		u.publish(t, versionFiles("2"))
		u.door.set(doorShut)
		c.request(t, ws)
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, versions("1"))
	})

	t.Run("AnotherRef", func(t *testing.T) {
		t.Parallel()

		repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), versionFiles("1"))
		repo.git(t, "tag", "v1")
		repo.commit(t, versionFiles("2"))
		repo.git(t, "tag", "v2")

		address := "git::file://" + repo.dir + "?ref="
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, address+"v1"), withPullPolicy(commonv1beta1.RemotePullPolicyIfNotPresent))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, versions("1"))

		c.changeModule(t, ws, address+"v2")
		expectOutputs(t, c, ws, versions("2"))
		expectSource(t, c, ws, address+"v2")
	})
}
