// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// leaseName is the Lease of an unsharded instance. It is a constant here because instances
// of other versions hold it, too: it must never change.
const leaseName = "crossplane-leader-election-provider-terraform"

func newLease(namespace, name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// expectLeaseHeld waits until the Lease has a holder, and returns it.
func expectLeaseHeld(t *testing.T, c *cluster, namespace, name string) string {
	t.Helper()

	l := newLease(namespace, name)

	eventually(t, func() error {
		c.get(t, l)

		if holder(l) == "" {
			return errors.Errorf("the Lease %q has no holder", name)
		}

		return nil
	})

	return holder(l)
}

// expectLeases fails the test unless the namespace has exactly the named Leases, beside those of sessions.
func expectLeases(t *testing.T, c *cluster, namespace string, want ...string) {
	t.Helper()

	l := &coordinationv1.LeaseList{}
	if err := c.kube.List(t.Context(), l, client.InNamespace(namespace)); err != nil {
		t.Fatalf("cannot list Leases: %v", err)
	}

	have := []string{}

	for _, lease := range l.Items {
		if !strings.HasPrefix(lease.GetName(), session.NamePrefix) {
			have = append(have, lease.GetName())
		}
	}

	slices.Sort(want)

	if diff := cmp.Diff(want, have, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Leases: -want, +got:\n%s", diff)
	}
}

func holder(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}

	return *l.Spec.HolderIdentity
}

// TestTwoShards runs two instances. Each serves the Workspaces with its label. Workspaces
// with no label or with that of another shard are not served.
func TestTwoShards(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	leases := c.namespace(t)
	a := startInstance(t, c, withShard(one), withNamespace(leases), withPoll(pollOften))
	// A shard can have its name from the environment as well.
	b := startInstance(t, c, withEnv("SHARD_NAME", two), withNamespace(leases), withPoll(pollOften))

	if ha, hb := expectLeaseHeld(t, c, leases, leaseName+"-"+one), expectLeaseHeld(t, c, leases, leaseName+"-"+two); ha == hb {
		t.Errorf("both Leases are held by %q", ha)
	}

	expectLeases(t, c, leases, leaseName+"-"+one, leaseName+"-"+two)

	eachScope(t, func(t *testing.T, s scope) {
		cfg := c.createConfig(t, s, ns, withBackend(ns, "shards"))
		text := withModule(moduleFile(t, "outputs.tf"))
		unlabelled := c.createWorkspace(t, s, ns, withConfig(cfg), text)
		otherShard := c.createWorkspace(t, s, ns, inShard(unique("shard")), withConfig(cfg), text)
		as := c.createWorkspace(t, s, ns, inShard(one), withConfig(cfg), text)
		bs := c.createWorkspace(t, s, ns, inShard(two), withConfig(cfg), text)

		expectReady(t, c, as)
		expectReady(t, c, bs)
		expectServedBy(t, a, as)
		expectServedBy(t, b, bs)

		// Within another poll interval they would have reconciled every Workspace that
		// they can see.
		expectAnotherRun(t, a, as, "plan")
		expectAnotherRun(t, b, bs, "plan")

		expectNotServedBy(t, a, bs)
		expectNotServedBy(t, b, as)

		for _, i := range []*instance{a, b} {
			expectNotServedBy(t, i, unlabelled)
			expectNotServedBy(t, i, otherShard)
		}

		expectUntouched(t, c, unlabelled)
		expectUntouched(t, c, otherShard)

		// The label decides, also after later changes.
		c.relabel(t, unlabelled, two)
		expectReady(t, c, unlabelled)
		expectServedBy(t, b, unlabelled)
		expectNotServedBy(t, a, unlabelled)
	})
}
