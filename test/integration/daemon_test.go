// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import "testing"

// TestDaemon has a provisioner that leaves a process behind, in a session of its own. It ends with its run.
func TestDaemon(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)
	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "daemon"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "daemon.tf", e))

	expectReady(t, c, ws)
	expectDone(t, e, "created")
	expectEndedProcess(t, e)
}
