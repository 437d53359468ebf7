// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestPollWritesNothing ensures that a poll for which there is nothing to do leaves
// all files as they are, not merely with the same content.
func TestPollWritesNothing(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withPoll(pollOften))

	spec := withBackend(ns, "unwritten")
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, spec)),
		withEvidence(t, "evidence.tf", newEvidence(t)))
	expectReady(t, c, ws)
	expectAnotherRun(t, i, ws, "plan")

	if len(ws.GetParameters().Vars) == 0 {
		t.Fatal("the test is about a Workspace with variables")
	}

	before := lasting(t, i.workdir(string(ws.GetUID())))

	for range 2 {
		expectAnotherRun(t, i, ws, "plan")
	}

	if diff := cmp.Diff(before, lasting(t, i.workdir(string(ws.GetUID())))); diff != "" {
		t.Errorf("inodes and times of files: -before, +after polls:\n%s", diff)
	}
}

// TestOverduePolls stops an instance for longer than the poll interval. The next one polls each
// Workspace at once, and not when its next poll would be due.
func TestOverduePolls(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	first := startInstance(t, c, withShard(shard))
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "overdue"))

	var all []workspace.Workspace

	for range 3 {
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)

		all = append(all, ws)
	}

	first.stop(t)

	// The time of the last renewal stands for the length of the outage.
	l := newLease(leaseNamespace, leaseName+"-"+shard)
	c.get(t, l)

	l.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * pollNever)}
	if err := c.kube.Update(t.Context(), l); err != nil {
		t.Fatalf("cannot set time of last renewal: %v", err)
	}

	second := startInstance(t, c, withShard(shard), withRoot(first.root), withPoll(pollNever))

	for _, ws := range all {
		expectRuns(t, second, ws, "plan")
	}
}

// TestPollsBesideConfigs makes an instance with the lowest rate limit reconcile more
// ProviderConfigs than the limit allows in the time that this test waits. Polls do not
// wait for them.
func TestPollsBesideConfigs(t *testing.T) {
	t.Parallel()

	const configs = 120

	c := shared.sharded.started(t)

	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withWorkers(1), withPoll(pollOften))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "beside"))), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)

	for range configs {
		c.createConfig(t, namespacedScope, ns, withoutBackend())
	}

	for range 3 {
		expectAnotherRun(t, i, ws, "plan")
	}
}

// lasting returns, for every file of a directory that remains after a run, a value that
// changes when it is written.
func lasting(t *testing.T, dir string) map[string]string {
	t.Helper()

	found := map[string]string{}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && e.IsDir() {
			return nil
		}

		if err != nil {
			return err
		}

		info, err := e.Info()
		if os.IsNotExist(err) || filepath.Ext(path) == ".tfvars" || filepath.Ext(path) == ".tfplan" || e.Name() == ".crossplane-use" {
			return nil // It is about one run only.
		}

		if err != nil {
			return err
		}

		inode := info.Sys().(*syscall.Stat_t).Ino //nolint:forcetypeassert // It is Linux.
		found[path] = strconv.FormatUint(inode, 10) + " " + info.ModTime().Format(time.RFC3339Nano)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return found
}
