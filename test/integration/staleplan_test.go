// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestStalePlan changes a state after a plan was made from it. Another plan is made, and
// the recorded state is the one of that plan.
func TestStalePlan(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard, e := c.namespace(t), unique("shard"), newEvidence(t)
	i := startInstance(t, c, withShard(shard), withCLI(newMeddler(t, e)))

	const one = "resource \"terraform_data\" \"one\" {}\n"

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "stale-plan"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(one+"resource \"terraform_data\" \"two\" {}\n"))
	expectReady(t, c, ws)

	before := notedSerial(t, i, ws)

	e.write(t, "meddle", "")
	c.changeModule(t, ws, one+"resource \"terraform_data\" \"three\" {}\n")
	expectReady(t, c, ws)

	if _, err := os.Stat(filepath.Join(string(e), "meddle")); !os.IsNotExist(err) {
		t.Errorf("the state was not changed between plan and apply: %v", err)
	}

	// The first plan keeps one of two, the second one finds none of one.
	if diff := cmp.Diff(2, ws.GetObservation().State.Resources); diff != "" {
		t.Errorf("resources: -want, +got:\n%s", diff)
	}

	// The first apply has made one change, and the meddler another one.
	if after := notedSerial(t, i, ws); after < before+2 {
		t.Errorf("want it to be noted that the last apply started from serial %d or later, got %d", before+2, after)
	}
}

// newMeddler returns the path of a CLI that, on request, removes a resource from the state
// before it applies anything.
func newMeddler(t *testing.T, e evidence) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "tofu")
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = apply ] && rm '%s/meddle' 2>/dev/null; then
	'%s' state rm terraform_data.one >/dev/null || exit
fi
exec '%s' "$@"
`, e, shared.tofu(), shared.tofu())

	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatalf("cannot write script: %v", err)
	}

	return path
}

// notedSerial returns the serial of the state that the last apply of the instance started
// from.
func notedSerial(t *testing.T, i *instance, ws workspace.Workspace) int {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(i.records(string(ws.GetUID())), "manifest.json"))
	if err != nil {
		t.Fatalf("cannot read note: %v", err)
	}

	note := struct {
		Run struct {
			Serial int `json:"serial"`
		} `json:"run"`
	}{}
	if err := json.Unmarshal(data, &note); err != nil {
		t.Fatalf("cannot parse note: %v", err)
	}

	return note.Run.Serial
}
