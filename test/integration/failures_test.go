// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestBrokenModule runs modules that cannot work. The condition has the error of the CLI,
// and other Workspaces are not affected.
func TestBrokenModule(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		module string
		want   []string
	}{
		"Syntax": {
			reason: "This fails as early as init.",
			module: `output "unfinished" {`,
			want:   []string{"Unclosed configuration block", "There is no closing brace for this block"},
		},
		"Reference": {
			reason: "This fails in plan.",
			module: moduleFile(t, "invalid.tf"),
			want:   []string{"Reference to undeclared input variable", `An input variable with the name "undeclared" has not been declared`},
		},
	}

	c, ns, shard, _ := useTerraform(t)

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "broken"))
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(tc.module))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.want...)
			expectReadable(t, ws.GetCondition(xpv2.TypeSynced))

			other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
			expectReady(t, c, other)

			// There is nothing that would have to be destroyed first.
			c.remove(t, ws)
			expectGone(t, c, ws)
		})
	}
}

// TestFailingApply creates a resource that fails at first.
func TestFailingApply(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "failing"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "failing.tf", e))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse,
		"local-exec provisioner error", "exit status 7", "terraform_data.broken")
	expectReadable(t, ws.GetCondition(xpv2.TypeSynced))
	expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse)

	other := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, other)

	e.write(t, "mended", "")
	expectReady(t, c, ws)
}

// TestFailingUpdate breaks a Workspace that was Ready, in a way that fails the plan and in
// one that fails only the apply. It is not Ready until it is fixed.
func TestFailingUpdate(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "update"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	good := moduleFile(t, "evidence.tf")

	for _, bad := range []string{moduleFile(t, "failing.tf"), moduleFile(t, "invalid.tf")} {
		c.changeModule(t, ws, bad)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse)
		expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse)

		c.changeModule(t, ws, good)
		expectReady(t, c, ws)
	}

	// The same holds for a failure before the plan.
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"entrypoint": "../elsewhere"}}})
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot use spec.forProvider.entrypoint")
	expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionFalse)

	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"entrypoint": nil}}})
	expectReady(t, c, ws)

	expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`})
}

// TestTaintedAndProtected lets the provisioner of a resource fail that may not be destroyed. The CLI does not say why it would replace the
// resource.
func TestTaintedAndProtected(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("tainted")))),
			withModule("resource \"terraform_data\" \"db\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n  provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }\n}\n"))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot plan", "terraform_data.db", "prevent_destroy", "to keep it, untaint it in the state by hand")
	})
}

// TestUnreadableRemoteState lets a module read something else than a state. The texts of the CLIs are also those about the state of the
// Workspace, and have no place.
func TestUnreadableRemoteState(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		e := newEvidence(t)
		e.write(t, "state", "<html>")

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("remote")))),
			withModule(fmt.Sprintf(`
data "terraform_remote_state" "network" {
  backend = "local"
  config  = { path = %q }
}
resource "terraform_data" "x" { input = data.terraform_remote_state.network.outputs.o }
`, string(e)+"/state")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot plan: data.terraform_remote_state.network: Unsupported state file format: What is there is no state")

		e.write(t, "state", `{"version": 4, "outputs": {"o": {"value": 1, "type": "number"}}}`)
		c.request(t, ws)
		expectReady(t, c, ws)
	})
}

// expectReadable fails the test unless a person can read the message.
func expectReadable(t *testing.T, c xpv2.Condition) {
	t.Helper()

	for _, noise := range []string{"base64", "\x1b", "╷", "│", `{"@level"`, "@message"} {
		if strings.Contains(c.Message, noise) {
			t.Errorf("want no %q in %s", noise, describe(c))
		}
	}

	if len(c.Message) > 4096 {
		t.Errorf("want a message that is not longer than a page, got %d bytes", len(c.Message))
	}
}
