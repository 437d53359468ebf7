// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestRefusedNames has names that an API server or the CLI refuses. The message names the field, the value
// and the remedy, and the corrected Workspace becomes Ready.
func TestRefusedNames(t *testing.T) {
	t.Parallel()

	const module = `
resource "terraform_data" "x" {}
output "o" { value = "v" }
`

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, i := useCommon(t, cli)

		t.Run("Output", func(t *testing.T) {
			t.Parallel()

			eachScope(t, func(t *testing.T, s scope) {
				secret := unique("connection")
				cfg := c.createConfig(t, s, ns, withBackend(ns, "outputs"))
				ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withSecret(secret), withModule(module+`output "straße" { value = "s" }`))
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `"straße"`, "rename them", "or remove spec.writeConnectionSecretToRef")
				expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionTrue)
				expectSecret(t, c, ns, secret, map[string]string{"o": "v"})
				expectOutputs(t, c, ws, map[string]string{"o": `"v"`, "straße": `"s"`})
				expectEventFrom(t, c, ws, controllerOf(s), corev1.EventTypeWarning, "CannotPublishConnectionDetails")

				c.changeModule(t, ws, module+`output "strasse" { value = "s" }`)
				expectReady(t, c, ws)
				expectSecret(t, c, ns, secret, map[string]string{"o": "v", "strasse": "s"})
			})
		})

		t.Run("SecretName", func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "secretnames"))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSecret("My_Secret"), withModule(module))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `spec.writeConnectionSecretToRef.name "My_Secret"`, "at most 253 lowercase letters")

			if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
				t.Errorf("want no run of the CLI, got %q", runs)
			}

			c.remove(t, ws)
			expectGone(t, c, ws)
		})

		for name, tc := range map[string]struct{ external, want string }{
			"Long":  {external: strings.Repeat("a", 70), want: "at most 63 lowercase letters"},
			"Dash":  {external: "-prod", want: "a letter or a digit at both ends"},
			"Space": {external: "prod/eu 1", want: "it may have only ASCII letters, digits"},
		} {
			t.Run("External"+name, func(t *testing.T) {
				t.Parallel()

				cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "external-"+strings.ToLower(name)))
				ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
				meta.SetExternalName(ws, tc.external)
				c.create(t, ws)
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `"`+tc.external+`"`, tc.want, "Set the annotation crossplane.io/external-name")

				c.patch(t, ws, map[string]any{"metadata": map[string]any{"annotations": map[string]any{meta.AnnotationKeyExternalName: ws.GetName()}}})
				expectReady(t, c, ws)
			})
		}
	})
}

// encryption is that of a state and its plans, with OpenTofu.
const encryption = `
terraform {
  encryption {
    key_provider "pbkdf2" "p" {
      passphrase = "correct-horse-battery"
      iterations = 200000
    }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.p }
    state { method = method.aes_gcm.m }
    plan { method = method.aes_gcm.m }
  }
}
`

// TestEncryptionInOneBackend has Workspaces with and without an encryption in one backend: the first one to
// use it decides, because each init reads the state of the Terraform workspace "default".
func TestEncryptionInOneBackend(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	for suffix, modules := range map[string][2]string{"encrypted": {encryption, ""}, "plain": {"", encryption}} {
		t.Run(suffix, func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
			first := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(modules[0]+`resource "terraform_data" "x" {}`))
			expectReady(t, c, first)

			second := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(modules[1]+`resource "terraform_data" "y" {}`))
			expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse,
				`the state of the Terraform workspace "default" of the backend, in the Secret `+ns+"/tfstate-default-"+suffix, "secret_suffix")
		})
	}
}

// TestEncryptionKeyIsReplaced replaces the key of an encrypted state. A plan without changes writes no state: the
// old key is needed until an apply has changed something. Nothing writes the state of the Terraform workspace
// "default" again.
func TestEncryptionKeyIsReplaced(t *testing.T) {
	t.Parallel()

	const (
		replaced = "method = method.aes_gcm.new"
		both     = replaced + "\nfallback {\n  method = method.aes_gcm.old\n}"
	)

	module := func(state, key string) string {
		return fmt.Sprintf(`
terraform {
  encryption {
    key_provider "pbkdf2" "old" {
      passphrase = "correct-horse-battery"
      iterations = 200000
    }
    key_provider "pbkdf2" "new" {
      passphrase = "wrong-donkey-charger"
      iterations = 200000
    }
    method "aes_gcm" "old" { keys = key_provider.pbkdf2.old }
    method "aes_gcm" "new" { keys = key_provider.pbkdf2.new }
    state {
      %s
    }
  }
}
output "key" { value = %q }
`, state, key)
	}

	c, ns, shard, _ := useOpenTofu(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "replaced"))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module("method = method.aes_gcm.old", "old")))
	expectReady(t, c, ws)

	c.changeModule(t, ws, module(both, "old"))
	expectReady(t, c, ws)

	c.changeModule(t, ws, module(replaced, "old"))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, stateSecret(ws, ns, "replaced").Name, "as its fallback, until an apply with changes")

	c.changeModule(t, ws, module(both, "new"))
	expectReady(t, c, ws)

	c.changeModule(t, ws, module(replaced, "new"))
	expectReady(t, c, ws)

	second := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module(replaced, "second")))
	expectCondition(t, c, second, xpv2.TypeSynced, corev1.ConditionFalse, "tfstate-default-replaced", "delete that state")

	c.remove(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "tfstate-default-replaced"}})
	expectReady(t, c, second)
}

// TestLinkIntoTheRepository has a module whose link leads to another directory of its repository. The message
// names the address and the entrypoint with which it works.
func TestLinkIntoTheRepository(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{
		"module1/main.tf":  `output "module" { value = "m" }`,
		"module1/infra.tf": "-> ../common/infra.tf",
		"common/infra.tf":  `output "common" { value = "c" }`,
	})
	address := "git::file://" + repo.dir

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, address+"//module1"))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `remove "//module1" from spec.forProvider.module, and set spec.forProvider.entrypoint to "module1"`)

	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"module": address, "entrypoint": "module1"}}})
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"module": `"m"`, "common": `"c"`})
}
