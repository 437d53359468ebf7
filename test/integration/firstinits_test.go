// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestFirstInits uses a new backend for many Workspaces at the same time. The first init makes
// the state of the default Terraform workspace there, and another one at that moment fails at first.
func TestFirstInits(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "first"))

	var all []workspace.Workspace

	for n := range 4 {
		module := "output \"a\" { value = 1 }\n" + fmt.Sprintf("# %d\n", n)
		all = append(all, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module)))
	}

	for _, ws := range all {
		expectReady(t, c, ws)

		// Init is tried again if it finds the lock of another one.
		runs := i.runs.of(string(ws.GetUID()))
		runs = slices.DeleteFunc(runs, func(command string) bool { return command == "init" })

		if diff := cmp.Diff([]string{"plan", "apply"}, runs); diff != "" {
			t.Errorf("runs of the CLI beside init: -want, +got:\n%s", diff)
		}

		if about := eventsAbout(t, c, ws); strings.Contains(about, "CannotConnect") {
			t.Errorf("want no failure that people see, got %s", about)
		}
	}
}
