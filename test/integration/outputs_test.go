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

	c, ns, shard, _ := useOpenTofu(t)

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
}
