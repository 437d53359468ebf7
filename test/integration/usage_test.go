// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestConfigUsedByTwoShards uses one ProviderConfig in two shards. Both count all of
// its users, and agree on how many there are; while either shard has one, the
// ProviderConfig stays.
func TestConfigUsedByTwoShards(t *testing.T) {
	t.Parallel()

	c, ns, one, a := useOpenTofu(t)
	_, _, two, b := useCommon(t, commonOtherTofu)

	cfg := newClusterConfig(withBackend(ns, "usage"))
	c.create(t, cfg)

	text := withModule(moduleFile(t, "outputs.tf"))
	as := c.createWorkspace(t, namespacedScope, ns, inShard(one), polledOften, withConfig(cfg), text)
	bs := c.createWorkspace(t, namespacedScope, ns, inShard(two), polledOften, withConfig(cfg), text)
	polls := func() {
		expectAnotherRun(t, a, as, "plan")
		expectAnotherRun(t, b, bs, "plan")
	}

	expectReady(t, c, as)
	expectReady(t, c, bs)
	expectUsers(t, c, cfg, 2)
	polls()
	expectSettled(t, c, cfg, polls)

	c.remove(t, cfg)
	expectTerminating(t, c, cfg)
	polls()
	expectSettled(t, c, cfg, polls)
	expectUsers(t, c, cfg, 2)

	c.remove(t, as)
	expectGone(t, c, as)
	collectGarbage(t, c, as)
	expectUsers(t, c, cfg, 1)
	expectAnotherRun(t, b, bs, "plan")
	expectUsers(t, c, cfg, 1)

	c.remove(t, bs)
	expectGone(t, c, bs)
	collectGarbage(t, c, bs)
	expectGone(t, c, cfg)
}

// expectUsers waits until the ProviderConfig says that it has so many users.
func expectUsers(t *testing.T, c *cluster, cfg client.Object, want int64) {
	t.Helper()

	pc := asConfig(t, cfg)

	eventually(t, func() error {
		c.get(t, cfg)

		if have := pc.GetUsers(); have != want {
			return errors.Errorf("users of %q: want %d, got %d", cfg.GetName(), want, have)
		}

		return nil
	})
}

// expectTerminating waits until the condition of the ProviderConfig says that it is being
// deleted and why it still exists.
func expectTerminating(t *testing.T, c *cluster, cfg client.Object) {
	t.Helper()

	pc := asConfig(t, cfg)

	eventually(t, func() error {
		c.get(t, cfg)

		have := pc.GetCondition("Terminating")
		if have.Status != corev1.ConditionTrue || have.Reason != "InUse" {
			return errors.Errorf("want %q in use while it is deleted, got %s", cfg.GetName(), describe(have))
		}

		return nil
	})
}

// expectSettled fails the test if the object changes while the supplied function
// runs.
func expectSettled(t *testing.T, c *cluster, o client.Object, meanwhile func()) {
	t.Helper()
	c.get(t, o)

	before := o.GetResourceVersion()

	meanwhile()
	c.get(t, o)

	if after := o.GetResourceVersion(); after != before {
		t.Errorf("%T %q changes although nothing happens: resource version %s, then %s", o, o.GetName(), before, after)
	}
}

func asConfig(t *testing.T, o client.Object) resource.ProviderConfig {
	t.Helper()

	pc, ok := o.(resource.ProviderConfig)
	if !ok {
		t.Fatalf("%T is not a ProviderConfig", o)
	}

	return pc
}

// collectGarbage replaces the garbage collector of Kubernetes, which is not a part of the
// API server, for a deleted Workspace: it deletes the record that the Workspace uses its
// ProviderConfig.
func collectGarbage(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()

	if err := c.kube.Delete(t.Context(), usageOf(ws)); client.IgnoreNotFound(err) != nil {
		t.Fatalf("cannot delete usage: %v", err)
	}
}
