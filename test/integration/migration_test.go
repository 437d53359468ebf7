// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strconv"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// testMigration goes through all modes with the same Workspaces, in the order of
// docs/sharding.md: one instance, static shards, elastic shards, and one instance again. No
// instance has the disk of another one.
func testMigration(t *testing.T, c *cluster) {
	t.Helper()

	ns, static, elastic := c.namespace(t), unique("static"), unique("elastic")
	start := func(opts ...instanceOption) *instance {
		return startInstance(t, c, append(opts, withShortLease())...)
	}

	single := start()
	labelled, unlabelled := c.createMigrant(t, clusterScope, ns), c.createMigrant(t, namespacedScope, ns)
	all := []workspace.Workspace{labelled.ws, unlabelled.ws}

	// To static shards.
	fixed := start(withShard(static))
	rest := start(withArgs("--shard-catch-all"))

	expectEvent(t, c, unlabelled.ws, "WaitingForOwner", "unsharded instance")
	expectClaimed(t, c, unlabelled.ws, leaseName)
	single.stop(t)
	c.relabel(t, labelled.ws, static)
	labelled.expectServed(t, fixed, "static", leaseName+"-"+static)
	unlabelled.expectServed(t, rest, "static", leaseName+"-catch-all")

	// To elastic shards.
	replica := startInstance(t, c, withAssigner(elastic)...)
	c.unlabel(t, labelled.ws)
	expectPlaced(t, c, all, nil, elastic)
	fixed.stop(t)
	rest.stop(t)

	for _, m := range []*migrant{labelled, unlabelled} {
		m.expectServed(t, replica, "elastic", leaseName+"-"+elastic)
	}

	// And back.
	single = start()

	expectEvent(t, c, unlabelled.ws, "WaitingForOwner", "shard "+elastic)
	replica.stop(t)

	for _, m := range []*migrant{labelled, unlabelled} {
		c.unlabel(t, m.ws)
		m.expectServed(t, single, "single", leaseName)
	}
}

// unlabel removes both labels of shards.
func (c *cluster) unlabel(t *testing.T, ws workspace.Workspace) {
	t.Helper()
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: nil, shard.AssignedLabelKey: nil}}})
}

// A migrant is a Workspace that is served by one instance after the other.
type migrant struct {
	c  *cluster
	ws workspace.Workspace
	e  evidence

	namespace, suffix string

	// id of its resource.
	id string
}

// createMigrant creates a Workspace and waits until it is Ready.
func (c *cluster) createMigrant(t *testing.T, s scope, namespace string) *migrant {
	t.Helper()

	m := &migrant{c: c, e: newEvidence(t), namespace: namespace, suffix: unique("migration")}
	cfg := c.createConfig(t, s, namespace, withBackend(namespace, m.suffix))
	m.ws = c.createWorkspace(t, s, namespace, withConfig(cfg), withEvidence(t, "evidence.tf", m.e), withMore(t, "id.tf"))
	expectReady(t, c, m.ws)
	m.id = c.readState(t, stateSecret(m.ws, namespace, m.suffix)).Outputs["id"].Value

	return m
}

// expectServed changes the Workspace. The instance of the supplied Lease claims it. It has not run the CLI
// for it before, and nothing is created again.
func (m *migrant) expectServed(t *testing.T, i *instance, greeting, lease string) {
	t.Helper()

	state := stateSecret(m.ws, m.namespace, m.suffix)
	before := m.c.readState(t, state)

	m.c.changeVars(t, m.ws, commonv1beta1.Var{Key: "dir", Value: string(m.e)}, commonv1beta1.Var{Key: "greeting", Value: greeting})
	expectOutputs(t, m.c, m.ws, map[string]string{"greeting": strconv.Quote(greeting), "id": strconv.Quote(m.id)})
	expectReady(t, m.c, m.ws)
	expectRuns(t, i, m.ws, "init", "plan", "apply")
	expectDone(t, m.e, "created")
	expectChangedOnce(t, m.c, state, before)
	expectCreatedOnce(t, m.c, m.ws)
	expectUnlocked(t, m.c, m.ws, m.namespace, m.suffix)

	expectClaimed(t, m.c, m.ws, lease)
}
