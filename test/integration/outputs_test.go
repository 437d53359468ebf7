// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
)

// TestOutputs checks outputs of every type, in the status and in the connection
// Secret.
func TestOutputs(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		c := shared.sharded.started(t)
		ns, shard := c.namespace(t), unique("shard")
		startInstance(t, c, withShard(shard), withCLI(cli))

		eachScope(t, func(t *testing.T, s scope) {
			secret := unique("connection")
			cfg := c.createConfig(t, s, ns, withBackend(ns, "outputs"))
			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withSecret(secret), withModule(moduleFile(t, "outputs.tf")))

			expectReady(t, c, ws)
			expectOutputs(t, c, ws, map[string]string{
				"text":     `"a \"quoted\" <word>"`,
				"integer":  `9007199254740993`,
				"fraction": `1.5`,
				"flag":     `true`,
				"list":     `["a", "b"]`,
				"object":   `{"name": "n", "nested": {"deep": [1, null]}}`,
			})
			expectSecret(t, c, ns, secret, map[string]string{
				"text":     `a "quoted" <word>`,
				"integer":  `9007199254740993`,
				"fraction": `1.5`,
				"flag":     `true`,
				"list":     `["a","b"]`,
				"object":   `{"name":"n","nested":{"deep":[1,null]}}`,
				"huge":     `12345678901234567890`,
				"password": `correct horse`,
			})

			// A removed output is removed from the status and the Secret.
			c.changeModule(t, ws, `output "text" { value = "b" }`)
			expectOutputs(t, c, ws, map[string]string{"text": `"b"`})
			expectSecret(t, c, ns, secret, map[string]string{"text": "b"})
		})
	})
}

// TestChangeOfSensitiveOutput changes nothing but an output that is in the
// connection Secret only.
func TestChangeOfSensitiveOutput(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard))

	module := func(password string) string {
		return `output "password" {
  value     = "` + password + `"
  sensitive = true
}`
	}

	secret := unique("connection")
	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSecret(secret), withModule(module("old")))
	expectReady(t, c, ws)
	expectSecret(t, c, ns, secret, map[string]string{"password": "old"})

	c.changeModule(t, ws, module("new"))
	expectSecret(t, c, ns, secret, map[string]string{"password": "new"})
	expectOutputs(t, c, ws, map[string]string{})
}

// TestInlineJSON runs a module in JSON syntax, and then one in HCL in its place.
func TestInlineJSON(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withTerraform())

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "json"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg),
		withJSONModule(`{"output": {"syntax": {"value": "JSON"}}}`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"syntax": `"JSON"`})

	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"inlineFormat": "HCL",
		"module":       `output "syntax" { value = "HCL" }`,
	}}})
	expectOutputs(t, c, ws, map[string]string{"syntax": `"HCL"`})
	expectReady(t, c, ws)
}
