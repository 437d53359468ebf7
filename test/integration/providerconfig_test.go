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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// eachConfig runs a test for every kind of ProviderConfig, with a Workspace that
// can use it.
func eachConfig(t *testing.T, run func(t *testing.T, s scope, newConfig func(namespace string, spec configSpec) client.Object)) {
	t.Helper()

	t.Run("ProviderConfigOfCluster", func(t *testing.T) {
		run(t, clusterScope, func(namespace string, spec configSpec) client.Object {
			return newConfig(clusterScope, namespace, spec)
		})
	})
	t.Run("ProviderConfigOfNamespace", func(t *testing.T) {
		run(t, namespacedScope, func(namespace string, spec configSpec) client.Object {
			return newConfig(namespacedScope, namespace, spec)
		})
	})
	t.Run("ClusterProviderConfig", func(t *testing.T) {
		run(t, namespacedScope, func(_ string, spec configSpec) client.Object {
			return newClusterConfig(spec)
		})
	})
}

// TestConfiguration adds a configuration to a module, completed by a backend file.
func TestConfiguration(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		configuration := `
terraform {
  backend "kubernetes" {}
}

locals {
  origin = "the configuration"
}
`
		backend := fmt.Sprintf("namespace     = %q\nsecret_suffix = %q\n", ns, "partial")
		cfg := newConfig(ns, configSpec{Configuration: &configuration, BackendFile: &backend})
		c.create(t, cfg)

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(`output "origin" { value = local.origin }`))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"origin": `"the configuration"`})
		expectExists(t, c, stateSecret(ws, ns, "partial"))
	})
}

// TestCredentials gives a module a file with credentials. Other users cannot read it, and
// it is removed after the run.
func TestCredentials(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withTerraform())

	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: unique("credentials")},
		Data:       map[string][]byte{"key": []byte("open sesame")},
	}
	c.create(t, secret)

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		cfg := newConfig(ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{{
			Filename: "credentials.txt",
			Source:   xpv2.CredentialsSourceSecret,
			CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
				SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: ns, Name: secret.GetName()},
					Key:             "key",
				},
			},
		}}})
		c.create(t, cfg)

		e := newEvidence(t)
		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withEvidence(t, "credentials.tf", e))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"credentials": `"open sesame"`})
		expectDone(t, e, "600")
		eventually(t, func() error {
			file := filepath.Join(i.workdir(string(ws.GetUID())), "credentials.txt")
			if _, err := os.Stat(file); !os.IsNotExist(err) {
				return errors.Errorf("want no file with credentials after the run, got %v", err)
			}

			return nil
		})
	})
}

// TestForeignSecret refers from the ProviderConfig of a namespace to a Secret in another
// one. The Secret is read in the namespace of the Workspace.
func TestForeignSecret(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, foreign, shard := c.namespace(t), c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: foreign, Name: unique("credentials")},
		Data:       map[string][]byte{"key": []byte("open sesame")},
	}
	c.create(t, secret)

	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{{
		Filename: "credentials.txt",
		Source:   xpv2.CredentialsSourceSecret,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
			SecretRef: &xpv2.SecretKeySelector{
				SecretReference: xpv2.SecretReference{Namespace: foreign, Name: secret.GetName()},
				Key:             "key",
			},
		},
	}}})
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "credentials.tf", newEvidence(t)))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "credentials.txt", "not found")
}

// TestPlugin uses a real provider plugin, which the CLI installs from where its
// configuration file says. That file is one of the credentials.
func TestPlugin(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		c := shared.sharded.started(t)
		ns, shard := c.namespace(t), unique("shard")
		startInstance(t, c, withShard(shard), withCLI(cli))

		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: unique("rc")},
			StringData: map[string]string{"rc": fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", shared.mirror)},
		}
		c.create(t, secret)

		cfg := c.createConfig(t, clusterScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{{
			Filename: ".terraformrc",
			Source:   xpv2.CredentialsSourceSecret,
			CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
				SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: ns, Name: secret.GetName()},
					Key:             "rc",
				},
			},
		}}})
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"year": "2020"})

		c.remove(t, ws)
		expectGone(t, c, ws)
	})
}

// TestMissingConfig refers to a ProviderConfig that does not exist yet.
func TestMissingConfig(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		cfg := newConfig(ns, withoutBackend())
		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "connect failed", "cannot get provider config", cfg.GetName(), "not found")

		c.create(t, cfg)
		expectReady(t, c, ws)
	})
}

// TestCorrectedBackend gives a ProviderConfig a backend that cannot be used. With
// the right one instead the Workspace is created, although its directory was
// initialized with the other.
func TestCorrectedBackend(t *testing.T) {
	t.Parallel()

	const suffix = "corrected"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		cfg := newConfig(ns, withBackend("no-such-namespace", suffix))
		c.create(t, cfg)

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "no-such-namespace")

		c.patch(t, cfg, map[string]any{"spec": map[string]any{"configuration": withBackend(ns, suffix).Configuration}})
		c.request(t, ws)
		expectReady(t, c, ws)
		expectExists(t, c, stateSecret(ws, ns, suffix))
	})
}

// TestChangedBackend gives a ProviderConfig another backend than the one with the state.
// No new state begins there: the user has to migrate the state and to confirm that.
func TestChangedBackend(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		c := shared.sharded.started(t)
		ns, shard := c.namespace(t), unique("shard")
		startInstance(t, c, withShard(shard), withCLI(cli))

		e := newEvidence(t)
		cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "before"))
		ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
		expectReady(t, c, ws)

		c.patch(t, cfg, map[string]any{"spec": map[string]any{"configuration": withBackend(ns, "after").Configuration}})
		c.request(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Backend configuration changed")
		expectReadable(t, ws.GetCondition(xpv2.TypeSynced))
		expectGone(t, c, stateSecret(ws, ns, "after"))

		state := stateSecret(ws, ns, "before")
		c.get(t, state)

		moved := stateSecret(ws, ns, "after")
		moved.Labels, moved.Data = state.GetLabels(), state.Data
		moved.Labels["tfstateSecretSuffix"] = "after"
		c.create(t, moved)
		c.changeArguments(t, ws, "initArgs", "-reconfigure")
		expectReady(t, c, ws)
		expectDone(t, e, "created")

		c.remove(t, ws)
		expectGone(t, c, ws)
		expectGone(t, c, moved)
		expectDone(t, e, "created", "destroyed")
	})
}

// TestChangedConfig changes a ProviderConfig. A Workspace that uses it has that at
// its next reconcile, although nothing of its own has changed.
func TestChangedConfig(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	origin := func(text string) *string { return new("locals {\n  origin = \"" + text + "\"\n}\n") }

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		cfg := newConfig(ns, configSpec{Configuration: origin("old")})
		c.create(t, cfg)

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(`output "origin" { value = local.origin }`))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"origin": `"old"`})

		c.patch(t, cfg, map[string]any{"spec": map[string]any{"configuration": origin("new")}})
		c.request(t, ws)
		expectOutputs(t, c, ws, map[string]string{"origin": `"new"`})
	})
}
