// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestTimeout has an apply that takes longer than the limit of a reconcile. It is
// interrupted, so that the CLI saves the state and releases its lock, and is retried.
func TestTimeout(t *testing.T) {
	t.Parallel()

	const suffix = "timeout"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withArgs("--timeout=10s"))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "gated.tf", e))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "interrupted")
	expectReadable(t, ws.GetCondition(xpv2.TypeSynced))

	e.write(t, "gate", "")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}
