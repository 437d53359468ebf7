// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestSupersededState kills an instance that has an unsaved state. Another one, with
// another disk, creates everything again. When the Workspace comes back to the first disk,
// the state there must not replace the one of the second instance.
func TestSupersededState(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/secrets")
	a := startInstance(t, c, withShard(one), withShortLease(), withCLIKubeconfig(o.kubeconfig))
	b := startInstance(t, c, withShard(two), withShortLease())

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "superseded"))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(one), withConfig(cfg))

	o.begin()
	e.write(t, "gate", "")
	expectErroredState(t, a, ws, true)
	a.kill(t)
	o.end()

	c.relabel(t, ws, two)
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")
	c.annotate(t, ws, requestedAt, "now")
	lineage := expectRemembered(t, c, ws)

	again := startInstance(t, c, withShard(one), withShortLease(), withRoot(a.root))
	c.relabel(t, ws, one)
	c.annotate(t, ws, requestedAt, "after the move")
	expectEvent(t, c, ws, "UnsavedState", "errored.tfstate.superseded-", "by hand")
	expectServedBy(t, again, ws)
	expectErroredState(t, again, ws, false)
	expectReady(t, c, ws)
	expectDone(t, e, "created", "created")

	if s := ws.GetObservation().State; s.Lineage != lineage {
		t.Errorf("want the state with lineage %s, have %+v", lineage, s)
	}
}

// TestStaleState has an instance with an unsaved state, and another one, with another
// disk, that serves the Workspace meanwhile. When the Workspace comes back to the first
// one, that must not trust its own records: its state has the higher serial, and is not
// the one to keep.
func TestStaleState(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two := c.namespace(t), unique("shard"), unique("shard")
	o := newOutage(t, c, "/secrets")
	// The timeout ends the time in which it holds on to the Workspace.
	a := startInstance(t, c, withShard(one), withCLIKubeconfig(o.kubeconfig), withArgs("--timeout=40s"))
	b := startInstance(t, c, withShard(two))

	e := newEvidence(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "stale"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(one), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	again := newEvidence(t)
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"module": moduleFile(t, "gated.tf"),
		"vars":   []map[string]any{{"key": "dir", "value": string(again)}},
	}}})
	expectDone(t, again, "created")
	o.begin()
	again.write(t, "gate", "")
	expectErroredState(t, a, ws, true)
	raiseSerial(t, a, ws)

	c.relabel(t, ws, two)
	expectServedBy(t, b, ws)
	expectReady(t, c, ws)
	expectDone(t, again, "created", "created")
	o.end()

	c.relabel(t, ws, one)
	c.annotate(t, ws, requestedAt, "after the move")
	expectEvent(t, c, ws, "UnsavedState", "errored.tfstate.superseded-", "by hand")
	expectErroredState(t, a, ws, false)
	expectReady(t, c, ws)
	expectDone(t, again, "created", "created")
}

// raiseSerial gives an unsaved state of the instance the serial that it has after many
// attempts of the CLI to save it.
func raiseSerial(t *testing.T, i *instance, ws workspace.Workspace) {
	t.Helper()

	path := filepath.Join(i.workdir(string(ws.GetUID())), "errored.tfstate")

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read state: %v", err)
	}

	state := map[string]any{}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatalf("cannot parse state: %v", err)
	}

	state["serial"] = 50

	if data, err = json.Marshal(state); err != nil {
		t.Fatalf("cannot encode state: %v", err)
	}

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatalf("cannot write state: %v", err)
	}
}
