// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestImportIntoNewState imports a resource into a new state. What the plan imports is not in the state yet, and a plan
// that would destroy it is not applied.
func TestImportIntoNewState(t *testing.T) {
	t.Parallel()

	const block = "\nimport {\n  to = terraform_data.a\n  id = \"x\"\n}\n"

	for name, use := range map[string]func(t *testing.T) (*cluster, string, string, *instance){"OpenTofu": useOpenTofu, "Terraform": useTerraform} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, ns, shard, _ := use(t)
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "import-block"))

			kept := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg),
				withModule("resource \"terraform_data\" \"a\" {\n  input = 1\n}\nresource \"terraform_data\" \"b\" {}"+block))
			replaced := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg),
				withModule("resource \"terraform_data\" \"a\" {\n  triggers_replace = 1\n}"+block))

			expectReady(t, c, kept)

			if s := kept.GetObservation().State; s == nil || s.Resources != 2 {
				t.Errorf("want two resources in the status, got %+v", s)
			}

			expectCondition(t, c, replaced, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would import terraform_data.a and destroy it")

			for _, ws := range []workspace.Workspace{kept, replaced} {
				if got := ws.GetCondition("StateTakenOver"); got.Status != corev1.ConditionUnknown {
					t.Errorf("want no state to be taken over, got %s", describe(got))
				}

				c.remove(t, ws)
				expectGone(t, c, ws)
			}
		})
	}
}

// TestDestroyWithoutImport deletes a Workspace whose module has an import block that was never applied. What it names
// is not destroyed, although Terraform before version 1.9 imports before it destroys.
func TestDestroyWithoutImport(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		e := newEvidence(t)

		const own = "resource \"terraform_data\" \"own\" {}\n"

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("import")))), withModule(own))
		expectReady(t, c, ws)

		c.changeModule(t, ws, own+fmt.Sprintf(`
import {
  to = terraform_data.precious
  id = "x"
}
resource "terraform_data" "precious" {
  triggers_replace = 1
  provisioner "local-exec" {
    when    = destroy
    command = "echo destroyed >>'%s/done'"
  }
}
`, string(e)))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the plan would import terraform_data.precious and destroy it")
		c.remove(t, ws)

		expectGone(t, c, ws)

		if done := e.lines(); len(done) > 0 {
			t.Errorf("want nothing to be destroyed that was not in the state, got %q", done)
		}
	})
}

// TestDestroyGoesOnAfterImport lets a destroy fail after it has destroyed what an import block names. The next one goes on,
// and does not import it once more.
func TestDestroyGoesOnAfterImport(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		cause, e := filepath.Join(t.TempDir(), "mended"), newEvidence(t)

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("import")))), withModule(fmt.Sprintf(`
import {
  to = terraform_data.imported
  id = "x"
}
resource "terraform_data" "imported" {
  depends_on = [terraform_data.full]
  provisioner "local-exec" {
    when    = destroy
    command = "echo destroyed >>'%s/done'"
  }
}
resource "terraform_data" "full" {
  provisioner "local-exec" {
    when    = destroy
    command = "test -e '%s'"
  }
}
`, e, cause)))
		expectReady(t, c, ws)
		c.remove(t, ws)
		expectCondition(t, c, ws, "Stalled", corev1.ConditionTrue)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot destroy", "terraform_data.full")

		if err := os.WriteFile(cause, nil, 0o600); err != nil {
			t.Fatal(err)
		}

		c.annotate(t, ws, requestedAt, unique("request"))
		expectGone(t, c, ws)

		if done := e.lines(); len(done) != 1 {
			t.Errorf("want what was imported to be destroyed once, got %q", done)
		}
	})
}
