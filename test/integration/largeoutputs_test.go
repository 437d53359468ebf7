// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// TestLargeOutputs has outputs that are too large: each for a Workspace and for a Secret,
// both together for the line in which the CLI prints them.
func TestLargeOutputs(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	module := func(large string) string {
		return `
output "more" { value = ` + large + ` }
output "most" { value = ` + large + ` }
output "small" { value = "s" }
`
	}

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module(`join("", [for n in range(1024) : format("%02100d", n)])`)))
	expectReady(t, c, ws)
	expectCondition(t, c, ws, "OutputsOmitted", corev1.ConditionTrue, `no room for "more" (2.1 MiB), "most" (2.1 MiB)`)
	expectOutputs(t, c, ws, map[string]string{"small": `"s"`})
	expectEventFrom(t, c, ws, controllerOf(namespacedScope), corev1.EventTypeWarning, "OmittedOutputs")

	secret := unique("connection")
	c.patch(t, ws, map[string]any{"spec": map[string]any{"writeConnectionSecretToRef": map[string]any{"name": secret}}})
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `a Secret can hold 1.0 MiB: "more" (2.1 MiB), "most" (2.1 MiB), "small" (1 bytes)`)
	expectCondition(t, c, ws, xpv2.TypeReady, corev1.ConditionTrue)

	c.changeModule(t, ws, module(`"m"`))
	expectReady(t, c, ws)
	expectCondition(t, c, ws, "OutputsOmitted", corev1.ConditionFalse)
	expectOutputs(t, c, ws, map[string]string{"more": `"m"`, "most": `"m"`, "small": `"s"`})
	expectSecret(t, c, ns, secret, map[string]string{"more": "m", "most": "m", "small": "s"})
}
