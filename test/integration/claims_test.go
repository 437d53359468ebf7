// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withShortLease makes the instance count as dead a few seconds after its last sign
// of life.
func withShortLease() instanceOption {
	return withArgs("--lease-duration=8s", "--lease-renew-deadline=6s", "--lease-retry-period=500ms")
}

// expectClaimed waits until the Workspace is claimed by the instance that holds the
// Lease of the supplied name.
func expectClaimed(t *testing.T, c *cluster, ws workspace.Workspace, lease string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)
		want := &commonv1beta1.Claim{Namespace: leaseNamespace, Lease: lease, Holder: expectLeaseHeld(t, c, leaseNamespace, lease)}

		if diff := cmp.Diff(want, ws.GetOwnership().Claim); diff != "" {
			return errors.Errorf("claim on Workspace %q: -want, +got:\n%s", ws.GetName(), diff)
		}

		return nil
	})
}

// kill ends the instance without warning.
func (i *instance) kill(t *testing.T) {
	t.Helper()

	i.signal(t, syscall.SIGKILL)
	<-i.Ended()
}

// startPatient starts an instance of the named shard that retries a Workspace that it
// waits for only after minutes, unless an event triggers a reconcile.
func startPatient(t *testing.T, c *cluster, shardName string) *instance {
	t.Helper()

	// The instance would also wait for minutes for an unknown Lease.
	l := newLease(leaseNamespace, leaseName+"-"+shardName)
	l.SetAnnotations(map[string]string{shard.HoldersAnnotationKey: "gone", shard.ReleasedAnnotationKey: "gone"})
	c.create(t, l)

	return startInstance(t, c, withShard(shardName), withArgs("--lease-duration=30m", "--lease-renew-deadline=20m", "--lease-retry-period=5m"))
}

// TestClaims moves a Workspace between instances: the instance that works on it always
// holds the claim. Each instance continues as soon as the claim changes.
func TestClaims(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	startPatient(t, c, one)
	b := startPatient(t, c, two)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "claims"))

	t.Run("Idle", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		expectClaimed(t, c, ws, leaseName+"-"+one)
		c.relabel(t, ws, two)
		expectClaimed(t, c, ws, leaseName+"-"+two)
		c.request(t, ws)
		expectServedBy(t, b, ws)
	})

	t.Run("UnservedShard", func(t *testing.T) {
		t.Parallel()

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectReady(t, c, ws)
		c.relabel(t, ws, unique("unserved"))
		eventually(t, func() error {
			c.get(t, ws)

			if have := ws.GetOwnership().Claim; have != nil {
				return errors.Errorf("the Workspace is still claimed: %+v", *have)
			}

			return nil
		})
	})

	t.Run("Applying", func(t *testing.T) {
		t.Parallel()

		ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
		c.relabel(t, ws, two)
		expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
		expectClaimed(t, c, ws, leaseName+"-"+one)
		expectNotServedBy(t, b, ws)

		e.write(t, "gate", "")
		expectClaimed(t, c, ws, leaseName+"-"+two)
		// It was Ready when its creation ended: there is nothing to do before the next poll.
		expectReady(t, c, ws)
		c.request(t, ws)
		expectServedBy(t, b, ws)

		if meta.GetExternalCreateSucceeded(ws).IsZero() || meta.ExternalCreateIncomplete(ws) {
			t.Errorf("no record that the creation succeeded: annotations %q", ws.GetAnnotations())
		}

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectDone(t, e, "created", "destroyed")
	})
}

// TestTakeover stops the process of an instance in the middle of an apply. Its Workspaces go to another
// shard, but not before it is killed, and with it its runs, which were not stopped. TestKilledSecrets
// kills an instance at once.
func TestTakeover(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	root := t.TempDir()
	b := startInstance(t, c, withShard(two), withTerraform(), withShortLease(), withRoot(root))
	a := startInstance(t, c, withShard(one), withTerraform(), withShortLease(), withRoot(root))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "takeover"))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	c.relabel(t, ws, two)
	expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)

	a.signal(t, syscall.SIGSTOP)

	// The new one finds the lock on the state that the dead one has left, and its record on the same disk.
	expectServedBy(t, b, ws)

	if a.Running() {
		t.Error("the other instance was still there")
	}

	expectEvent(t, c, ws, "RemovedOrphanLock")
	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectClaimed(t, c, ws, leaseName+"-"+two)

	if len(ws.GetOwnership().PreviousHosts) == 0 {
		t.Error("no record of the instance that abandoned the Workspace")
	}
}

// TestForeignLock expects a lock that a person holds to be respected.
func TestForeignLock(t *testing.T) {
	t.Parallel()

	const (
		suffix = "foreign"
		id     = "11111111-2222-3333-4444-555555555555"
		info   = `{"ID":"` + id + `","Operation":"OperationTypeApply","Info":"","Who":"alice@laptop","Version":"1.0.0","Created":"2020-01-02T03:04:05.678Z","Path":"x"}`
	)

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, suffix))
	ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))

	holder := id
	l := newLease(ns, lockOf(ws, suffix))
	l.Spec.HolderIdentity = &holder
	l.Annotations = map[string]string{"app.terraform.io/lock-info": info}
	l.Labels = map[string]string{"tfstate": "true", "tfstateSecretSuffix": suffix, "tfstateWorkspace": ws.GetName(), "app.kubernetes.io/managed-by": "terraform"}
	c.create(t, l)
	c.create(t, ws)

	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "alice@laptop", "2020-01-02", id, "left alone")
	c.get(t, l)

	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity != id {
		t.Errorf("the lock of another run was removed: %v", l.Spec)
	}

	c.remove(t, l)
	expectReady(t, c, ws)
	expectDone(t, e, "created")
}

// TestCatchAll expects the Workspaces without a label to be served by one instance,
// and those with one to be left alone by it.
func TestCatchAll(t *testing.T) {
	t.Parallel()

	c, ns, one, _ := useOpenTofu(t)
	rest := startInstance(t, c, withArgs("--shard-catch-all"))
	expectMetric(t, rest, `provider_terraform_shard_info{mode="catch-all",shard=""} 1`)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "rest"))
	ws := c.createWorkspace(t, namespacedScope, ns, withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	labelled := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))

	expectReady(t, c, ws)
	expectReady(t, c, labelled)
	expectClaimed(t, c, ws, leaseName+"-catch-all")
	expectNotServedBy(t, rest, labelled)

	c.patch(t, labelled, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: nil}}})
	expectClaimed(t, c, labelled, leaseName+"-catch-all")
	c.request(t, labelled)
	expectServedBy(t, rest, labelled)
}

// testUnshardedNextToShards starts both kinds of instances: each leaves the Workspaces of
// the other alone, and every Workspace is served by one of them.
func testUnshardedNextToShards(t *testing.T, c *cluster) {
	t.Helper()

	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(one), withShortLease())
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "mixed"))

	applying, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	u := startInstance(t, c, withShortLease())
	expectEvent(t, c, applying, "WaitingForOwner", "shard "+one)
	expectNotServedBy(t, u, applying)

	later := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, later)
	expectServedBy(t, u, later)
	expectNotServedBy(t, a, later)
	expectEvent(t, c, later, "WaitingForOwner", "unsharded instance", "--shard-catch-all")

	e.write(t, "gate", "")
	expectReady(t, c, applying)
	expectServedBy(t, a, applying)
	expectUnclaimed(t, c, later)

	u.stop(t)
	expectClaimed(t, c, later, leaseName+"-"+one)
}
