// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestWarnings runs a module whose check fails, and reads something. The Workspace tells that once, applies nothing more, and is
// Ready nevertheless.
func TestWarnings(t *testing.T) {
	t.Parallel()

	const (
		failed     = `spec.forProvider.module, line 19: check "world": Check block assertion failed: The world is old.`
		undeclared = "Values for undeclared variables: Files of variables have values for 4 variables that the root module does not declare."
	)

	for name, use := range map[string]func(t *testing.T) (*cluster, string, string, *instance){"OpenTofu": useOpenTofu, "Terraform": useTerraform} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, ns, shard, i := use(t)

			e := newEvidence(t)
			e.write(t, "world", "old")
			e.write(t, "state", `{"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": []}`)

			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "warnings"))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), polledOften, withConfig(cfg), withEvidence(t, "drift.tf", e), withMore(t, "check.tf"),
				withVarMap(`{"a": 1, "b": 2, "c": 3, "d": 4}`))

			expectReady(t, c, ws)
			expectWarnings(t, c, ws, failed, undeclared)
			expectEvent(t, c, ws, "ReportedWarnings", failed)

			// The first plan after an apply reports the serial number of the state.
			expectAnotherRun(t, i, ws, "plan")
			expectAnotherRun(t, i, ws, "plan")
			c.get(t, ws)
			before := ws.DeepCopyObject()

			// The second of two more plans begins after everything that the first one has caused.
			expectAnotherRun(t, i, ws, "plan")
			expectAnotherRun(t, i, ws, "plan")
			c.get(t, ws)

			if diff := cmp.Diff(before, ws.DeepCopyObject()); diff != "" {
				t.Errorf("a plan with the same warning has written the Workspace: -before, +after:\n%s", diff)
			}

			events, err := c.eventsOf(t, ws)
			if err != nil {
				t.Fatal(err)
			}

			for _, e := range events {
				if e.Reason == "ReportedWarnings" && e.Count != 1 {
					t.Errorf("want one Event about one warning, got %d: %s", e.Count, e.Message)
				}

				if e.Reason == "UpdatedExternalResource" {
					t.Errorf("want no apply of what a check reads: %s", e.Message)
				}
			}

			e.write(t, "world", "new")
			expectWarnings(t, c, ws, undeclared)
			expectReady(t, c, ws)
		})
	}
}

// expectWarnings waits until the status has the supplied warnings.
func expectWarnings(t *testing.T, c *cluster, ws workspace.Workspace, want ...string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if diff := cmp.Diff(want, ws.GetObservation().Warnings); diff != "" {
			return errors.Errorf("status.atProvider.warnings: -want, +got:\n%s", diff)
		}

		return nil
	})
}
