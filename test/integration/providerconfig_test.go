// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
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

	c, ns, shard, _ := useTerraform(t)

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

// TestMissingConfig refers to a ProviderConfig that does not exist yet.
func TestMissingConfig(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		cfg := newConfig(ns, withoutBackend())
		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "no ", "ProviderConfig "+strconv.Quote(cfg.GetName()))
		expectReason(t, c, ws, xpv2.TypeReady, xpv2.ReasonUnavailable)

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

	c, ns, shard, _ := useOpenTofu(t)

	cfg := newClusterConfig(withBackend("no-such-namespace", suffix))
	c.create(t, cfg)

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "no-such-namespace")

	c.patch(t, cfg, map[string]any{"spec": map[string]any{"configuration": withBackend(ns, suffix).Configuration}})
	c.request(t, ws)
	expectReady(t, c, ws)
	expectExists(t, c, stateSecret(ws, ns, suffix))
}

// TestChangedBackend gives a ProviderConfig another backend than the one with the state.
// No new state begins there: the user has to migrate the state and to confirm that.
func TestChangedBackend(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

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
}
