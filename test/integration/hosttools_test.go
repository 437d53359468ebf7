// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// gitTools returns the programs that git needs: git-submodule is a shell script.
func gitTools() []string { return []string{"basename", "sed", "uname"} }

// TestHostTools runs an instance where there is nothing on PATH but git and the CLI,
// and takes a fetched module from creation, over a change upstream, to deletion.
func TestHostTools(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withPoll(pollOften), withEnv("PATH", newBin(t, append(gitTools(), "git", shared.tofu())...)))

	root := t.TempDir()
	web := newDoor(t, newGitHandler(t, root))

	configuration := withBackend(ns, "tools")
	*configuration.Configuration += "\nlocals {\n  origin = \"configuration\"\n}\n"

	name := unique("repo")
	repo := newRepository(t, filepath.Join(root, name), fetchedModule("old"))

	cfg := c.createConfig(t, clusterScope, ns, configuration)
	far := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::"+web.url+"/"+name), withEntrypoint("live"))
	near := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withEntrypoint("live"))
	want := map[string]string{"version": `"old"`, "origin": `"configuration"`, "region": `"none"`}

	expectReady(t, c, far)
	expectReady(t, c, near)
	expectOutputs(t, c, far, want)
	expectOutputs(t, c, near, want)

	want["version"] = `"new"`

	repo.commit(t, fetchedModule("new"))
	expectOutputs(t, c, far, want)
	expectOutputs(t, c, near, want)

	c.remove(t, far)
	c.remove(t, near)
	expectGone(t, c, far)
	expectGone(t, c, near)
}

// newBin makes a directory with the supplied programs, given by path or by a name that is
// on PATH.
func newBin(t *testing.T, programs ...string) string {
	t.Helper()

	dir := t.TempDir()

	for _, p := range programs {
		path, err := exec.LookPath(p)
		if err != nil {
			t.Fatalf("cannot find program: %v", err)
		}

		if err := os.Symlink(path, filepath.Join(dir, filepath.Base(p))); err != nil {
			t.Fatalf("cannot link program: %v", err)
		}
	}

	return dir
}
