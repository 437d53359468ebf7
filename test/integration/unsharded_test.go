// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// TestUnsharded runs instances without a shard. Each serves every Workspace of
// its control plane, so there is one at a time.
func TestUnsharded(t *testing.T) {
	t.Parallel()
	t.Run("NextToShards", testUnshardedNextToShards)
	t.Run("Unserved", testUnserved)
	t.Run("Predecessor", testPredecessor)
	t.Run("SamePod", testUnshardedSamePod)
	t.Run("Elastic", testElastic)
	t.Run("Outage", testUnshardedOutage)
	t.Run("Quiet", testQuiet)
	t.Run("StoppedPredecessor", testStoppedPredecessor)
	t.Run("DeadShard", testDeadShard)
	t.Run("DeadUnsharded", testDeadUnsharded)
	t.Run("LeaderElection", func(t *testing.T) { testUnshardedWithLease(t, "--leader-election") })
	t.Run("InCluster", func(t *testing.T) { testUnshardedWithLease(t) })
	t.Run("NoLeaderElection", func(t *testing.T) { testUnshardedWithoutLease(t, withArgs("--no-leader-election")) })
	t.Run("DropIn", testDropIn)
	t.Run("Migration", testMigration)
	t.Run("MissingRights", testMissingConfigRights)
	t.Run("NoNamespace", func(t *testing.T) { testUnshardedWithoutLease(t, withEnv("POD_NAMESPACE", "")) })
}

// testUnshardedWithLease expects the default behaviour: one Lease, and all Workspaces with
// any label. It claims none of them.
func testUnshardedWithLease(t *testing.T, args ...string) {
	t.Helper()

	c := shared.unsharded.started(t)
	i := startInstance(t, c, withNamespace(c.namespace(t)), withArgs(args...))

	expectLeaseHeld(t, c, i.namespace, leaseName)
	expectLeases(t, c, i.namespace, leaseName)

	l := newLease(i.namespace, leaseName)
	c.get(t, l)

	if have := ptr.Deref(l.Spec.LeaseDurationSeconds, 0); have != 60 {
		t.Errorf("duration of the Lease: want 60 seconds as ever, got %d", have)
	}

	expectMetric(t, i, `provider_terraform_shard_info{mode="unsharded",shard=""} 1`)
	expectServesAll(t, c, i)
}

// testUnshardedWithoutLease expects no leader election if it is turned off, or if the
// namespace is not known.
func testUnshardedWithoutLease(t *testing.T, opt instanceOption) {
	t.Helper()

	c := shared.unsharded.started(t)
	i := startInstance(t, c, withNamespace(c.namespace(t)), opt)

	expectServesAll(t, c, i)
	expectLeases(t, c, i.namespace)
}

func expectServesAll(t *testing.T, c *cluster, i *instance) {
	t.Helper()

	ns := c.namespace(t)

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "unsharded"))
		text := withModule(moduleFile(t, "outputs.tf"))
		unlabelled := c.createWorkspace(t, s, ns, withConfig(cfg), text)
		labelled := c.createWorkspace(t, s, ns, inShard("shard-0"), withConfig(cfg), text)

		expectReady(t, c, unlabelled)
		expectReady(t, c, labelled)
		expectServedBy(t, i, unlabelled)
		expectServedBy(t, i, labelled)
		expectUnclaimed(t, c, unlabelled)
	}
}

// testPredecessor kills an unsharded instance in the middle of an apply. The next one, on
// the same host, takes its Lease and knows the holder of the lock that it finds.
func testPredecessor(t *testing.T) {
	t.Helper()

	c := shared.unsharded.started(t)
	ns := c.namespace(t)
	a := startInstance(t, c, withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "predecessor"))
	ws, e := c.createGated(t, namespacedScope, ns, withConfig(cfg))
	a.kill(t)

	b := startInstance(t, c, withNamespace(ns), withShortLease())
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectUnlocked(t, c, ws, ns, "predecessor")
}

// testStoppedPredecessor stops an unsharded instance whose apply has to be killed. It
// releases its Lease, and so does the next one, which does not reconcile the Workspace.
// The one after that still knows the holder of the lock that it finds.
func testStoppedPredecessor(t *testing.T) {
	t.Helper()

	const suffix = "stopped"

	c := shared.unsharded.started(t)
	ns := c.namespace(t)
	a := startInstance(t, c, withNamespace(ns), withCLI(newStubborn(t)), withArgs("--shutdown-grace=1s"))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, withConfig(cfg))
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
	a.stop(t)
	expectLeaseHeld(t, c, ns, lockOf(ws, suffix))

	between := startInstance(t, c, withNamespace(ns))
	expectLeaseHeld(t, c, ns, leaseName)
	between.stop(t)
	expectNotServedBy(t, between, ws)

	startInstance(t, c, withNamespace(ns))
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// testDeadShard kills the instance of a shard in the middle of an apply. An unsharded one
// takes over, and knows from the claim the holder of the lock that it finds.
func testDeadShard(t *testing.T) {
	t.Helper()

	const suffix = "dead-shard"

	c := shared.unsharded.started(t)
	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(one), withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	a.kill(t)

	startInstance(t, c, withNamespace(ns))
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// testDeadUnsharded kills an unsharded instance in the middle of an apply. A shard takes
// over, and knows from the Lease the holder of the lock that it finds.
func testDeadUnsharded(t *testing.T) {
	t.Helper()

	const suffix = "dead-unsharded"

	c := shared.unsharded.started(t)
	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	a.kill(t)

	startInstance(t, c, withShard(one), withNamespace(ns), withShortLease())
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// newStubborn returns the path of a CLI that does not end on SIGINT.
func newStubborn(t *testing.T) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "tofu")
	script := fmt.Sprintf("#!/bin/sh\ntrap '' INT\n'%s' \"$@\"\nexit $?\n", shared.tofu())

	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatalf("cannot write script: %v", err)
	}

	return path
}
