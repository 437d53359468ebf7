// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestBlockedDeletion deletes Workspaces that cannot be destroyed. The message names the remedy, and the way to
// delete the Workspace without it.
func TestBlockedDeletion(t *testing.T) {
	t.Parallel()

	const (
		wayOut = `to delete the Workspace and leave the infrastructure and its state behind, set spec.managementPolicies to ["Observe", "Create", "Update"]`
		module = `resource "terraform_data" "x" {}`
	)

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, i := useCommon(t, cli)

		t.Run("DamagedState", func(t *testing.T) {
			t.Parallel()

			suffix := unique("damaged")
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
			expectReady(t, c, ws)

			state := stateSecret(ws, ns, suffix)
			c.patch(t, state, map[string]any{"data": map[string]any{"tfstate": []byte("damaged")}})
			c.label(t, ws, "plan", "again")
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "error loading state", `"`+ws.GetName()+`" of the backend, in the Secret `+ns+"/"+state.GetName())

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "rror loading the state", "in the Secret "+ns+"/"+state.GetName(), wayOut)

			c.changePolicies(t, ws, []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate})
			expectGone(t, c, ws)
			expectExists(t, c, state)
		})

		t.Run("Prevented", func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("prevented")))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule("resource \"terraform_data\" \"x\" {\n  lifecycle { prevent_destroy = true }\n}"))
			expectReady(t, c, ws)
			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "prevent_destroy", wayOut)

			c.changeModule(t, ws, module)
			expectGone(t, c, ws)
		})

		t.Run("OtherBackend", func(t *testing.T) {
			t.Parallel()

			before := withBackend(ns, unique("before"))
			cfg := c.createConfig(t, namespacedScope, ns, before)
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
			expectReady(t, c, ws)
			c.patch(t, cfg, map[string]any{"spec": withBackend(ns, unique("after"))})
			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Restore the old backend", wayOut)

			c.patch(t, cfg, map[string]any{"spec": before})
			expectGone(t, c, ws)
		})

		t.Run("NewBackend", func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
			expectReady(t, c, ws)

			dir, states := i.workdir(string(ws.GetUID())), filepath.Join(t.TempDir(), "states")
			c.patch(t, cfg, map[string]any{"spec": configSpec{Configuration: new(fmt.Sprintf("terraform {\n  backend \"local\" {\n    workspace_dir = %q\n  }\n}\n", states))}})
			c.label(t, ws, "plan", "again")
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the state of the Workspace is in the directory "+dir, "Remove the new backend, or restore the old one. Or copy the state to the new one, and move terraform.tfstate")

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "copy the state to the new one", wayOut)

			if err := os.Rename(filepath.Join(dir, "terraform.tfstate.d"), states); err != nil {
				t.Fatal(err)
			}

			expectGone(t, c, ws)
		})

		t.Run("VanishedValue", func(t *testing.T) {
			t.Parallel()

			e := newEvidence(t)
			e.write(t, "state", `{"version": 4, "outputs": {"o": {"value": "a", "type": "string"}}}`)

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("value")))), withModule(fmt.Sprintf(`
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = %q }
}
resource "terraform_data" "x" { input = data.terraform_remote_state.other.outputs.o }`, string(e)+"/state")))
			expectReady(t, c, ws)
			e.write(t, "state", `{"version": 4, "outputs": {}}`)
			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Unsupported attribute", `add "-refresh=false" to spec.forProvider.destroyArgs`)

			c.changeArguments(t, ws, "destroyArgs", "-refresh=false")
			expectGone(t, c, ws)
		})

		t.Run("UnknownKeys", func(t *testing.T) {
			t.Parallel()

			keys := func(input string) string {
				return fmt.Sprintf("resource \"terraform_data\" \"a\" { input = %q }\nresource \"terraform_data\" \"b\" { for_each = toset([terraform_data.a.output]) }\noutput \"n\" { value = length(terraform_data.b) }\n", input)
			}

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("keys")))), withModule(keys("x")),
				withParameters(func(p *commonv1beta1.ModuleParameters) {
					p.PlanArgs = []string{"-target=terraform_data.a"}
					p.ApplyArgs = p.PlanArgs
				}))
			expectReady(t, c, ws)
			c.changeArguments(t, ws, "planArgs")
			c.changeArguments(t, ws, "applyArgs")
			expectOutputs(t, c, ws, map[string]string{"n": "1"})
			c.changeModule(t, ws, keys("y"))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Invalid for_each argument", "in spec.forProvider.planArgs and applyArgs")

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot destroy: ", `add "-refresh=false" to spec.forProvider.destroyArgs`)

			if message := ws.GetCondition(xpv2.TypeSynced).Message; strings.Contains(message, "planArgs") {
				t.Errorf("want no arguments that a destroy does not use, got: %s", message)
			}

			c.changeArguments(t, ws, "destroyArgs", "-refresh=false")
			expectGone(t, c, ws)
		})

		t.Run("VanishedCredentials", func(t *testing.T) {
			t.Parallel()

			ref, spec := c.secretKey(t, ns, "secret"), withBackend(ns, unique("credentials"))
			spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.json", ref)}
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, spec)), withModule(module))
			expectReady(t, c, ws)
			c.remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: ref.Name}})
			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot get Secret "+ns+"/"+ref.Name, wayOut)

			c.createSecret(t, ref, "secret")
			expectGone(t, c, ws)
		})
	})
}

// TestRemovedAtDeletion deletes a Workspace before the removed block in its module was applied. A destroy does not heed the block.
func TestRemovedAtDeletion(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)
	e := newEvidence(t)

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("removed")))), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
	expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
	c.changeModule(t, ws, "variable \"dir\" {\n  type = string\n}\nremoved {\n  from = terraform_data.evidence\n  lifecycle {\n    destroy = false\n  }\n}\n")
	c.remove(t, ws)
	c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)

	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the module has a removed block for terraform_data.evidence, which is still in the state", "If that cannot be mended: ")
	expectDone(t, e, "created")

	// The way that the message names.
	c.changeModule(t, ws, moduleFile(t, "evidence.tf"))
	expectGone(t, c, ws)
	expectDone(t, e, "created", "destroyed")
}

// TestRemovedInCalled does the same with a block in a module that is called, locally or at a tag. For the latter, only the init of the
// destroy fetches the version with the block, or without it.
func TestRemovedInCalled(t *testing.T) {
	t.Parallel()

	const block = "variable \"dir\" {\n  type = string\n}\nremoved {\n  from = terraform_data.evidence\n  lifecycle {\n    destroy = false\n  }\n}\n"

	c, ns, shard, _ := useOpenTofu(t)

	for _, where := range []string{"Local", "Tag"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()

			e, called := newEvidence(t), moduleFile(t, "evidence.tf")
			db := newRepository(t, filepath.Join(t.TempDir(), "db"), tree{"main.tf": called})

			version := func(tag, text string) tree {
				source := "./db"

				if where == "Tag" {
					db.commit(t, tree{"main.tf": text})
					db.git(t, "tag", tag)
					source = "git::file://" + db.dir + "?ref=" + tag
				}

				return tree{"main.tf": fmt.Sprintf("variable \"dir\" {\n  type = string\n}\nmodule \"db\" {\n  source = %q\n  count = 1\n  dir = var.dir\n}\n", source), "db/main.tf": text}
			}

			repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), version("v1", called+"# 1\n"))

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("removed")))),
				withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withVar("dir", string(e)))
			expectReady(t, c, ws)

			c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, "true")
			expectReason(t, c, ws, xpv2.TypeSynced, xpv2.ReasonReconcilePaused)
			repo.commit(t, version("v2", block))
			c.remove(t, ws)
			c.annotate(t, ws, meta.AnnotationKeyReconciliationPaused, nil)

			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "the module has a removed block for module.db.terraform_data.evidence, which is still in the state", "If that cannot be mended: ")
			expectDone(t, e, "created")

			repo.commit(t, version("v3", called+"# 3\n"))
			c.annotate(t, ws, meta.AnnotationKeyReconcileRequestedAt, unique("request"))
			expectGone(t, c, ws)
			expectDone(t, e, "created", "destroyed")
		})
	}
}

// TestForgottenAtDeletion deletes a Workspace whose module keeps a resource, which only OpenTofu knows.
func TestForgottenAtDeletion(t *testing.T) {
	t.Parallel()

	const module = `
resource "terraform_data" "x" {}

resource "terraform_data" "kept" {
  lifecycle { destroy = false }
}
`

	c, ns, shard, _ := useOpenTofu(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("forgotten")))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
	expectReady(t, c, ws)
	c.remove(t, ws)
	expectEvent(t, c, ws, "CannotDeleteExternalResource", `add "-suppress-forget-errors" to spec.forProvider.destroyArgs`)
	expectGone(t, c, ws)

	ws = c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
	c.changeArguments(t, ws, "destroyArgs", "-suppress-forget-errors")
	expectReady(t, c, ws)
	c.remove(t, ws)
	expectGone(t, c, ws)

	if n := countEvents(t, c, ws, "CannotDeleteExternalResource"); n > 0 {
		t.Errorf("want no failure, got %d", n)
	}
}
