// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestFirstInits uses a new backend for many Workspaces at the same time. The first init makes
// the state of the default Terraform workspace there, and another one at that moment would fail.
func TestFirstInits(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	// create makes the Workspaces of a new backend, and returns the number of runs of init.
	create := func(t *testing.T, suffix string, module func(n int) string) int {
		t.Helper()

		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))

		var all []workspace.Workspace
		for n := range 4 {
			all = append(all, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module(n))))
		}

		inits := 0

		for _, ws := range all {
			expectReady(t, c, ws)

			runs := i.runs.of(string(ws.GetUID()))
			if runs[0] == "init" {
				inits++
				runs = runs[1:]
			}

			if diff := cmp.Diff([]string{"plan", "apply"}, runs); diff != "" {
				t.Errorf("runs of the CLI after the first init: -want, +got:\n%s", diff)
			}
		}

		return inits
	}

	t.Run("SameModule", func(t *testing.T) {
		t.Parallel()

		inits := create(t, "same", func(int) string { return `output "a" { value = 1 }` })
		if inits != 1 {
			t.Errorf("want one init, whose result the others use, got %d", inits)
		}
	})

	t.Run("OwnModules", func(t *testing.T) {
		t.Parallel()

		inits := create(t, "own", func(n int) string { return "output \"a\" { value = 1 }\n" + fmt.Sprintf("# %d\n", n) })
		if inits != 4 {
			t.Errorf("want an init of each module, got %d", inits)
		}
	})
}
