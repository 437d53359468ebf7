// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// expectClaimed waits until the Workspace is claimed by the instance that takes part in the leader election
// of the supplied name. An instance claims no Workspace that it has nothing to do for, so a reconcile is
// requested if no live instance has claimed it.
func expectClaimed(t *testing.T, c *cluster, ws workspace.Workspace, lease string) {
	t.Helper()

	requested := false

	eventually(t, func() error {
		c.get(t, ws)

		claim := ptr.Deref(ws.GetOwnership().Claim, commonv1beta1.Claim{})
		live := claim.Lease != "" && isLive(t, c, claim)

		if id, ok := shard.FromInstance(claim.Instance); ok && live && id.LeaseName() == lease {
			return nil
		}

		if !live && !requested {
			requested = true

			c.request(t, ws)
		}

		return errors.Errorf("claim on Workspace %q: want one of the instance with the Lease %s, got %+v", ws.GetName(), lease, claim)
	})
}

// isLive says whether the session that a claim names has not ended.
func isLive(t *testing.T, c *cluster, claim commonv1beta1.Claim) bool {
	t.Helper()

	l := newLease(claim.Namespace, claim.Lease)
	if err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(l), l); client.IgnoreNotFound(err) != nil {
		t.Fatalf("cannot get Lease %q: %v", claim.Lease, err)
	}

	return holder(l) == claim.Holder
}

// sessionOf returns the Lease of the session that has claimed a Workspace.
func (c *cluster) sessionOf(t *testing.T, ws workspace.Workspace) *coordinationv1.Lease {
	t.Helper()
	c.get(t, ws)

	claim := ptr.Deref(ws.GetOwnership().Claim, commonv1beta1.Claim{})
	if claim.Lease == "" {
		t.Fatalf("Workspace %q has no claim", ws.GetName())
	}

	l := newLease(claim.Namespace, claim.Lease)
	c.get(t, l)

	return l
}

// expectNoClaim waits until the Workspace has no claim.
func expectNoClaim(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if have := ws.GetOwnership().Claim; have != nil {
			return errors.Errorf("the Workspace is still claimed: %+v", *have)
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
		expectNoClaim(t, c, ws)
	})

	t.Run("Applying", func(t *testing.T) {
		t.Parallel()

		ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))
		c.relabel(t, ws, two)
		expectEvent(t, c, ws, "WaitingForOwner", "shard "+one)
		expectClaimed(t, c, ws, leaseName+"-"+one)
		expectNotServedBy(t, b, ws)

		e.write(t, "gate", "")
		// It was Ready when its creation ended: there is nothing to do before the next poll.
		expectReady(t, c, ws)
		c.request(t, ws)
		expectServedBy(t, b, ws)
		expectClaimed(t, c, ws, leaseName+"-"+two)

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

// testUnshardedNextToShards starts both kinds of instances: each leaves the Workspaces alone that the other
// has claimed, and every Workspace is served by one of them.
func testUnshardedNextToShards(t *testing.T, c *cluster) {
	t.Helper()

	ns, one := c.namespace(t), unique("shard")
	a := startInstance(t, c, withShard(one), withShortLease())
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "mixed"))

	applying, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	u := startInstance(t, c, withShortLease())
	expectEvent(t, c, applying, "WaitingForOwner", "shard "+one)
	expectNotServedBy(t, u, applying)

	later := c.createWorkspace(t, namespacedScope, ns, inShard(unique("other")), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, later)
	expectServedBy(t, u, later)
	expectClaimed(t, c, later, leaseName)
	c.relabel(t, later, one)
	expectEvent(t, c, later, "WaitingForOwner", "unsharded instance", "--shard-catch-all")
	expectNotServedBy(t, a, later)

	e.write(t, "gate", "")
	expectReady(t, c, applying)
	expectServedBy(t, a, applying)

	u.stop(t)
	expectClaimed(t, c, later, leaseName+"-"+one)
}
