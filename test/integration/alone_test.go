// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// The tests of this file and those they call need the most time: one after the other has the
// whole control plane. So the name of the file is one of the first, and they start before the
// others.

// TestUnsharded runs instances without a shard. Each serves every Workspace of
// its control plane, so there is one at a time.
func TestUnsharded(t *testing.T) {
	t.Parallel()

	c := shared.unsharded.started(t)
	t.Cleanup(c.stop)

	run := func(name string, test func(*testing.T, *cluster)) { t.Run(name, func(t *testing.T) { test(t, c) }) }

	run("ShardRange", testShardRange)
	run("NextToShards", testUnshardedNextToShards)
	run("Unserved", testUnserved)
	run("Outage", testUnshardedOutage)
	run("Quiet", testQuiet)
	run("MissingRights", testMissingConfigRights)
	run("LeaderElection", testUnshardedWithLease)
	run("NoLeaderElection", func(t *testing.T, c *cluster) { testUnshardedWithoutLease(t, c, withArgs("--no-leader-election")) })
	run("LateRight", testLateLeaseRight)
	run("NoNamespace", func(t *testing.T, c *cluster) { testUnshardedWithoutLease(t, c, withEnv("POD_NAMESPACE", "")) })
}

// TestSuccession runs instances, at least one of them without a shard, which take over the work of
// others. The first test needs the control plane without CRDs.
func TestSuccession(t *testing.T) {
	t.Parallel()

	c := shared.succession.started(t)
	t.Cleanup(c.stop)

	run := func(name string, test func(*testing.T, *cluster)) { t.Run(name, func(t *testing.T) { test(t, c) }) }

	run("SafeStart", testSafeStart)

	if _, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{Paths: []string{filepath.Join(shared.source, "package", "crds")}}); err != nil {
		t.Fatalf("cannot install CRDs: %v", err)
	}

	run("Predecessor", testPredecessor)
	run("StoppedPredecessor", testStoppedPredecessor)
	run("DeadShard", testDeadShard)
	run("DeadUnsharded", testDeadUnsharded)
	run("Elastic", testElastic)
	run("DropIn", testDropIn)
	run("Return", testReturn)
	run("Migration", testMigration)
}

// testUnshardedWithLease expects the default behaviour: one Lease, and all Workspaces with
// any label.
func testUnshardedWithLease(t *testing.T, c *cluster) {
	t.Helper()

	i := startInstance(t, c, withNamespace(c.namespace(t)), withArgs("--leader-election"))

	expectLeaseHeld(t, c, i.namespace, leaseName)
	expectLeases(t, c, i.namespace, leaseName)

	l := newLease(i.namespace, leaseName)
	c.get(t, l)

	if have := ptr.Deref(l.Spec.LeaseDurationSeconds, 0); have != 60 {
		t.Errorf("duration of the Lease: want 60 seconds as ever, got %d", have)
	}

	expectMetric(t, i, `provider_terraform_shard_info{mode="unsharded",shard=""} 1`)
	expectServesAll(t, c, i, clusterScope, namespacedScope)
}

// testUnshardedWithoutLease expects no leader election if it is turned off, or if the
// namespace is not known.
func testUnshardedWithoutLease(t *testing.T, c *cluster, opt instanceOption) {
	t.Helper()

	i := startInstance(t, c, withNamespace(c.namespace(t)), opt)

	expectServesAll(t, c, i, namespacedScope)
	expectLeases(t, c, i.namespace)
}

// testLateLeaseRight starts an instance before its Role for Leases is bound. It works without a
// Lease, and ends when it may hold one.
func testLateLeaseRight(t *testing.T, c *cluster) {
	t.Helper()

	ns := c.namespace(t)
	name, kubeconfig := c.newUser(t)
	c.grant(t, name, "", exampleRules(t, roleEverywhere))

	first := startInstance(t, c, withNamespace(ns), withKubeconfig(kubeconfig))
	expectServesAll(t, c, first, namespacedScope)
	expectLeases(t, c, ns)

	c.grant(t, name, ns, exampleRules(t, roleLeases))

	if !eventuallyEnded(first) {
		t.Fatalf("instance did not end within %s", patience)
	}

	if first.How() == endedWell || !strings.Contains(first.output.String(), "may be written now") {
		t.Fatalf("want an instance that may hold a Lease now to end and say why, got %s", first.How())
	}

	startInstance(t, c, withNamespace(ns), withKubeconfig(kubeconfig))
	expectLeaseHeld(t, c, ns, leaseName)
}

func expectServesAll(t *testing.T, c *cluster, i *instance, scopes ...scope) {
	t.Helper()

	ns := c.namespace(t)

	for _, s := range scopes {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "unsharded"))
		text := withModule(moduleFile(t, "outputs.tf"))
		unlabelled := c.createWorkspace(t, s, ns, withConfig(cfg), text)
		labelled := c.createWorkspace(t, s, ns, inShard("shard-0"), withConfig(cfg), text)

		expectReady(t, c, unlabelled)
		expectReady(t, c, labelled)
		expectServedBy(t, i, unlabelled)
		expectServedBy(t, i, labelled)
	}
}

// testPredecessor kills an unsharded instance in the middle of an apply. The next one, on
// the same host and disk, takes its Lease and knows the holder of the lock that it finds.
func testPredecessor(t *testing.T, c *cluster) {
	t.Helper()

	ns := c.namespace(t)
	a := startInstance(t, c, withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "predecessor"))
	ws, e := c.createGated(t, namespacedScope, ns, withConfig(cfg))
	a.kill(t)

	b := startInstance(t, c, withNamespace(ns), withShortLease(), withRoot(a.root))
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectServedBy(t, b, ws)
	expectUnlocked(t, c, ws, ns, "predecessor")
}

// testStoppedPredecessor stops an unsharded instance whose apply has to be killed. It
// releases its Lease, and so does the next one, which does not reconcile the Workspace.
// The one after that still knows the holder of the lock that it finds.
func testStoppedPredecessor(t *testing.T, c *cluster) {
	t.Helper()

	const suffix = "stopped"

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

	startInstance(t, c, withNamespace(ns), withRoot(a.root))
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// testDeadShard kills the instance of a shard in the middle of an apply. An unsharded one
// takes over, and knows from the claim the holder of the lock that it finds.
func testDeadShard(t *testing.T, c *cluster) {
	t.Helper()

	const suffix = "dead-shard"

	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(one), withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	a.kill(t)

	startInstance(t, c, withNamespace(ns), withRoot(a.root))
	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// testDeadUnsharded kills an unsharded instance in the middle of an apply. A shard takes
// over, and knows from the claim the holder of the lock that it finds.
func testDeadUnsharded(t *testing.T, c *cluster) {
	t.Helper()

	const suffix = "dead-unsharded"

	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withNamespace(ns), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	a.kill(t)

	startInstance(t, c, withShard(one), withNamespace(ns), withShortLease(), withRoot(a.root))
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
