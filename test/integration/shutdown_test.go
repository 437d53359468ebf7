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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestStopInterruptsApply stops an instance whose apply does not end in time. The
// CLI saves its state, gives its lock back and leaves nothing running; the next
// instance finishes the work.
func TestStopInterruptsApply(t *testing.T) {
	t.Parallel()

	const suffix = "interrupted"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withArgs("--shutdown-grace=1s"))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))
	expectLeaseHeld(t, c, ns, lockOf(ws, suffix))

	i.stop(t)
	expectUnlocked(t, c, ws, ns, suffix)
	expectEndedProcess(t, e)

	e.write(t, "gate", "")
	startInstance(t, c, withShard(shard), withTerraform())
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
	expectUnlocked(t, c, ws, ns, suffix)

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectGone(t, c, stateSecret(ws, ns, suffix))
}

// TestStopEndsWait stops an instance that waits until another one has got a provider.
func TestStopEndsWait(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	cache, e := t.TempDir(), newEvidence(t)

	slow := filepath.Join(t.TempDir(), "tofu")
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = init ]; then
  echo begun >>'%[1]s/done'
  until [ -e '%[1]s/gate' ] || [ ! -d '%[1]s' ]; do sleep 0.1; done
fi
exec '%[2]s' "$@"
`, e, shared.tofu())

	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}

	// Instances with different HOMEs do not share providers: the CLI configuration there can
	// name other sources.
	shares := func(o *instanceConfig) {
		o.env["TF_PLUGIN_CACHE_DIR"] = cache
		o.env["HOME"] = cache
	}

	startInstance(t, c, withShard(one), withCLI(slow), shares)
	i := startInstance(t, c, withShard(two), shares, withArgs("--shutdown-grace=1s"))

	rc := c.secretKey(t, ns, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", shared.mirror))
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", rc)}})

	first := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")), onlyHere())
	expectDone(t, e, "begun")

	second := c.createWorkspace(t, namespacedScope, ns, inShard(two), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")), onlyHere())
	eventually(t, func() error {
		_, err := os.Stat(filepath.Join(i.workdir(string(second.GetUID())), ".terraformrc"))

		return err
	})

	i.stop(t)

	if runs := i.runs.of(string(second.GetUID())); len(runs) > 0 {
		t.Errorf("want the instance to wait, got %q", runs)
	}

	e.write(t, "gate", "")
	expectReady(t, c, first)
}

// TestStopEndsDownload stops an instance in the middle of downloads that do not end. The
// next one starts them again.
func TestStopEndsDownload(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	newRepository(t, filepath.Join(root, "repo"), tree{"main.tf": `output "from" { value = "git" }`})
	repositories := newDoor(t, newGitHandler(t, root))
	archives := newDoor(t, &archiveServer{archives: map[string][]byte{"/module.tar.gz": archive(t, tree{"main.tf": `output "from" { value = "archive" }`})}})

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withArgs("--shutdown-grace=1s"))

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	downloads := map[string]workspace.Workspace{}

	for address, d := range map[string]*door{"git::" + repositories.url + "/repo": repositories, archives.url + "/module.tar.gz": archives} {
		d.set(doorHolds)

		downloads[address] = c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, address))
		eventually(t, func() error {
			if d.waiting() == 0 {
				return errors.Errorf("no request came for %q", address)
			}

			return nil
		})
	}

	i.stop(t)
	repositories.set(doorOpen)
	archives.set(doorOpen)
	startInstance(t, c, withShard(shard), withRoot(i.root))

	for address, ws := range downloads {
		expectReady(t, c, ws)
		expectSource(t, c, ws, address)
	}
}

// TestStopWaitsForApply stops an instance whose apply ends in time. Its result is saved,
// and no other instance gets the Lease before that.
func TestStopWaitsForApply(t *testing.T) {
	t.Parallel()

	const suffix = "awaited"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform(), withArgs("--shutdown-grace=1m", "--lease-retry-period=500ms"))

	applying := []workspace.Workspace{}
	traces := []evidence{}

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withBackend(ns, suffix))
		ws, e := c.createGated(t, s, ns, inShard(shard), withConfig(cfg))

		applying = append(applying, ws)
		traces = append(traces, e)
	}

	i.terminate(t)
	expectRenewals(t, c, leaseName+"-"+shard, 5)

	for _, e := range traces {
		e.write(t, "gate", "")
	}

	i.expectEnded(t)
	expectReleased(t, c, leaseName+"-"+shard)

	for _, ws := range applying {
		expectUnlocked(t, c, ws, ns, suffix)
		expectExists(t, c, stateSecret(ws, ns, suffix))
		c.get(t, ws)

		if meta.GetExternalCreateSucceeded(ws).IsZero() {
			t.Errorf("no record that the creation of %q succeeded: annotations %q", ws.GetName(), ws.GetAnnotations())
		}
	}

	startInstance(t, c, withShard(shard), withTerraform())

	for n, ws := range applying {
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
		expectDone(t, traces[n], "created")
	}
}

// TestRestart starts another instance with the workdirs of one that has stopped. It trusts
// the status until something changes or a poll is due.
func TestRestart(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard, root := c.namespace(t), unique("shard"), t.TempDir()
	first := startInstance(t, c, withShard(shard), withTerraform(), withRoot(root))

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	create := func() (workspace.Workspace, evidence, *corev1.Secret) {
		e, ref := newEvidence(t), c.secretKey(t, ns, `greeting = "good morning"`)

		return c.createReferring(t, namespacedScope, ns, references{varFiles: []commonv1beta1.VarFile{secretVars(ref, nil)}},
			inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e)), e, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}}
	}

	ws, e, _ := create()
	changed, _, secret := create()

	for _, ws := range []workspace.Workspace{ws, changed} {
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"greeting": `"good morning"`})
	}

	first.stop(t)
	c.patch(t, secret, map[string]any{"stringData": map[string]string{"key": `greeting = "good night"`}})

	second := startInstance(t, c, withShard(shard), withTerraform(), withRoot(root))

	// By now it had the chance to plan the first one, because it has served a later one.
	later, _, _ := create()
	expectReady(t, c, later)

	for _, ws := range []workspace.Workspace{ws, changed} {
		if runs := second.runs.of(string(ws.GetUID())); len(runs) > 0 {
			t.Errorf("the instance ran the CLI for a Workspace that was not due: %v", runs)
		}
	}

	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"good morning"`})

	c.annotate(t, ws, requestedAt, "now")
	expectAnotherRun(t, second, ws, "plan")

	// The other path of the CLI takes an init.
	if runs := second.runs.of(string(ws.GetUID())); len(runs) > 2 {
		t.Errorf("first observation after a restart: want 1 or 2 runs, got %q", runs)
	}

	second.stop(t)

	third := startInstance(t, c, withShard(shard), withTerraform(), withRoot(root), withPoll(pollOften))
	expectAnotherRun(t, third, ws, "plan")
	expectDone(t, e, "created")

	// A Secret has changed while no instance was there. The next poll finds that.
	expectOutputs(t, c, changed, map[string]string{"greeting": `"good night"`})

	c.remove(t, ws)
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// expectRenewals waits until the holder of the Lease has renewed it n times.
func expectRenewals(t *testing.T, c *cluster, name string, n int) {
	t.Helper()

	l := newLease(leaseNamespace, name)
	c.get(t, l)

	who, when := holder(l), l.Spec.RenewTime

	eventually(t, func() error {
		c.get(t, l)

		if have := holder(l); have != who {
			t.Fatalf("Lease %q: want it to be held by %q, got %q", name, who, have)
		}

		if !l.Spec.RenewTime.Equal(when) {
			when = l.Spec.RenewTime
			n--
		}

		if n > 0 {
			return errors.Errorf("want the Lease %q to be renewed %d times more", name, n)
		}

		return nil
	})
}

// expectReleased fails the test if the Lease has a holder.
func expectReleased(t *testing.T, c *cluster, name string) {
	t.Helper()

	l := newLease(leaseNamespace, name)
	c.get(t, l)

	if have := holder(l); have != "" {
		t.Errorf("the Lease %q is still held by %q", name, have)
	}
}

// lockOf returns the name of the Lease by which the kubernetes backend locks the
// state of the Workspace.
func lockOf(ws workspace.Workspace, suffix string) string {
	return "lock-tfstate-" + ws.GetName() + "-" + suffix
}

// expectUnlocked fails the test if the Workspace's state is locked.
func expectUnlocked(t *testing.T, c *cluster, ws workspace.Workspace, namespace, suffix string) {
	t.Helper()

	if err := checkUnlocked(t, c, ws, namespace, suffix); err != nil {
		t.Error(err)
	}
}

// checkUnlocked returns an error that names the lock while the state is locked.
func checkUnlocked(t *testing.T, c *cluster, ws workspace.Workspace, namespace, suffix string) error {
	t.Helper()

	l := newLease(namespace, lockOf(ws, suffix))
	c.get(t, l)

	if holder(l) != "" {
		return errors.Errorf("the state of %q is locked by %q: %q", ws.GetName(), holder(l), l.GetAnnotations())
	}

	return nil
}

// expectEndedProcess waits until the process that the module started is no more.
func expectEndedProcess(t *testing.T, e evidence) {
	t.Helper()

	pid, err := os.ReadFile(filepath.Join(string(e), "pid"))
	if err != nil {
		t.Fatalf("cannot read evidence: %v", err)
	}

	eventually(t, func() error {
		if !isEnded(strings.TrimSpace(string(pid))) {
			return errors.Errorf("process %s still runs", strings.TrimSpace(string(pid)))
		}

		return nil
	})
}

// isEnded says whether a process has ended. A zombie has ended.
func isEnded(pid string) bool {
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))

	return os.IsNotExist(err) || strings.Contains(string(status), "State:\tZ")
}
