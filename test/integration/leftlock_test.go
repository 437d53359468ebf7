// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestOwnLock disconnects the backend when an apply is about to release its lock. The
// instance knows that the run is dead, and removes the lock.
func TestOwnLock(t *testing.T) {
	t.Parallel()

	const suffix = "own-lock"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	o := newOutage(t, c, "/leases/lock-tfstate-")
	startInstance(t, c, withShard(shard), withCLIKubeconfig(o.kubeconfig))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	o.expectFelt(t)
	o.end()

	// The next plan takes the lock although it does not need it, and finds the old
	// one.
	expectReady(t, c, ws)
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectUnlocked(t, c, ws, ns, suffix)

	c.changeModule(t, ws, moduleFile(t, "gated.tf")+`output "more" { value = 1 }`)
	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`, "more": "1"})
	expectReady(t, c, ws)
	expectDone(t, e, "created")
}

// TestLeftLock moves a Workspace to another instance, and disconnects the backend when the
// apply of the first one is about to release its lock. The other instance
// finds the record of the failed run on the same disk, and removes the lock.
func TestLeftLock(t *testing.T) {
	t.Parallel()

	const suffix = "left-lock"

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/leases/lock-tfstate-")
	a := startInstance(t, c, withShard(one), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two), withRoot(a.root))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
	c.relabel(t, ws, two)
	expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
	expectMetric(t, b, `provider_terraform_claims_waiting 1`)
	o.begin()
	e.write(t, "gate", "")
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
	expectDone(t, e, "created")
	expectMetric(t, b, `provider_terraform_claims_waiting 0`)
	expectMetric(t, b, `provider_terraform_handoff_duration_seconds_count{previous="released"} 1`)
	expectMetric(t, b, `provider_terraform_orphan_locks_removed_total 1`)
}

// TestLockOfNamesake has an instance that is killed while it runs nothing, and a CLI of another cluster
// with the same host name and user that holds the lock on the state of its Workspace.
func TestLockOfNamesake(t *testing.T) {
	t.Parallel()

	const suffix = "namesake"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(shard), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)

	l := newLease(ns, lockOf(ws, suffix))
	id := lockAs(t, c, l)
	a.kill(t)

	startInstance(t, c, withShard(shard), withShortLease(), withRoot(a.root))
	c.changeModule(t, ws, moduleFile(t, "outputs.tf")+`output "more" { value = 1 }`)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, id, "it has left no record of a run that made the lock", "The provider removes it after 20")

	if have := expectLeaseHeld(t, c, ns, l.GetName()); have != id {
		t.Errorf("the lock of a live process was removed: the Lease is held by %q", have)
	}

	// No process can hold it any more.
	makeOld(t, c, l)
	c.request(t, ws)
	expectEvent(t, c, ws, "RemovedOrphanLock", id)
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}

// lockInfo is the annotation on a Lease that describes a lock.
// TestLockOfInit has a lock on the state of the default Terraform workspace, which the first init with a kubernetes backend
// makes. An init that was killed has left it, or a person holds it.
func TestLockOfInit(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c := shared.sharded.started(t)
		shard := unique("shard")

		hold := func(t *testing.T, ns string) *coordinationv1.Lease {
			t.Helper()

			l := newLease(ns, "lock-tfstate-default-init")
			l.Labels = map[string]string{"tfstate": "true", "tfstateSecretSuffix": "init", "tfstateWorkspace": "default", "app.kubernetes.io/managed-by": "terraform"}
			c.create(t, l)

			return l
		}

		// The init hangs until the instance is killed.
		dir := t.TempDir()
		hanging := filepath.Join(dir, "cli")

		script := "#!/bin/sh\ncase \" $* \" in *\" init \"*) touch " + dir + "/begun; exec sleep 600;; esac\nexec " + shared.clis[cli] + " \"$@\"\n"
		if err := os.WriteFile(hanging, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}

		a := startInstance(t, c, withShard(shard), withShortLease(), withCLI(hanging))
		ns := c.namespace(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "init"))), withModule("locals {}"))

		eventually(t, func() error {
			_, err := os.Stat(filepath.Join(dir, "begun"))

			return err
		})
		lockAs(t, c, hold(t, ns))
		a.kill(t)

		startInstance(t, c, withShard(shard), withShortLease(), withCLI(shared.clis[cli]), withRoot(a.root))
		expectReady(t, c, ws)

		ns = c.namespace(t)
		l := hold(t, ns)
		c.patch(t, l, map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{lockInfo: `{"ID":"of-a-person","Operation":"OperationTypeApply","Who":"a@laptop","Created":"2026-01-02T03:04:05.678Z"}`}},
			"spec":     map[string]any{"holderIdentity": "of-a-person"},
		})

		ws = c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "init"))), withModule("locals {}"))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the state is locked by a@laptop since 2026-01-02", "lock ID of-a-person")
		c.patch(t, l, map[string]any{"spec": map[string]any{"holderIdentity": nil}})
		expectReady(t, c, ws)
	})
}

const lockInfo = "app.terraform.io/lock-info"

// lockAs takes the lock on a state as a run on this host would, and returns its ID.
func lockAs(t *testing.T, c *cluster, l *coordinationv1.Lease) string {
	t.Helper()

	const id = "11111111-2222-3333-4444-555555555555"

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}

	info, err := json.Marshal(map[string]any{"ID": id, "Operation": "OperationTypeApply", "Who": u.Username + "@" + host, "Created": time.Now()})
	if err != nil {
		t.Fatal(err)
	}

	c.patch(t, l, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{lockInfo: string(info)}},
		"spec":     map[string]any{"holderIdentity": id},
	})

	return id
}

// makeOld makes a lock older than any run.
func makeOld(t *testing.T, c *cluster, l *coordinationv1.Lease) {
	t.Helper()
	c.get(t, l)

	info := map[string]any{}
	if err := json.Unmarshal([]byte(l.GetAnnotations()[lockInfo]), &info); err != nil {
		t.Fatal(err)
	}

	info["Created"] = time.Now().Add(-time.Hour)

	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}

	c.patch(t, l, map[string]any{"metadata": map[string]any{"annotations": map[string]any{lockInfo: string(text)}}})
}

// TestKilledAtPoll kills an instance in an apply that a poll has begun: the module reads another version. The Workspace is Ready
// with its specification, and the next poll is far away. The next instance removes the lock and applies at once nevertheless.
func TestKilledAtPoll(t *testing.T) {
	t.Parallel()

	const (
		suffix = "polled"
		module = `
variable "dir" { type = string }

resource "terraform_data" "gated" {
  input            = var.dir
  triggers_replace = file("${var.dir}/version")

  provisioner "local-exec" {
    command = "echo created >>'${self.input}/done'; until [ -e '${self.input}/gate' ] || [ ! -d '${self.input}' ]; do sleep 0.1; done"
  }
}
`
	)

	c := shared.sharded.started(t)
	ns, shard, e := c.namespace(t), unique("shard"), newEvidence(t)
	a := startInstance(t, c, withShard(shard), withShortLease(), withPoll(pollOften))

	e.write(t, "version", "1")
	e.write(t, "gate", "")

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module), withVar("dir", string(e)))
	expectReady(t, c, ws)
	expectDone(t, e, "created")

	if err := os.Remove(filepath.Join(string(e), "gate")); err != nil {
		t.Fatal(err)
	}

	e.write(t, "version", "2")
	expectDone(t, e, "created", "created")
	a.kill(t)

	startInstance(t, c, withShard(shard), withShortLease(), withRoot(a.root))
	e.write(t, "gate", "")
	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectDone(t, e, "created", "created", "created")
	expectReady(t, c, ws)
	// Ready was True before the apply: the apply may still run.
	eventually(t, func() error { return checkUnlocked(t, c, ws, ns, suffix) })
}
