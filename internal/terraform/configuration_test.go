// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"strings"
	"testing"
)

// TestConfigurationFile compares ConfigurationFile with the CLIs: a file that they read has an
// output.
func TestConfigurationFile(t *testing.T) {
	names := map[string]string{
		"a.tf": "a", "a.tofu": "a", "a.tf.json": "a", "a.tofu.json": "a", "a_override.tf.tf": "a_override.tf",
		".a.tf": "", ".tf": "", "a.tf~": "", "#a.tf#": "", "a.tfvars": "", "a.tftest.hcl": "", "a.json": "", "tf": "",
	}

	for name, want := range names {
		if base, ok := ConfigurationFile(name); base != want || ok != (want != "") {
			t.Errorf("ConfigurationFile(%q): want %q, got %q, %t", name, want, base, ok)
		}
	}

	forEachCLI(t, func(t *testing.T, c *CLI) {
		for name, base := range names {
			text := `output "o" { value = 1 }`
			if strings.HasSuffix(name, ".json") {
				text = `{"output": {"o": {"value": 1}}}`
			}

			want := base != "" && (c.Product == OpenTofu || !strings.Contains(name, ".tofu"))
			if p := mustPlan(t, c, newWorkspace(t, map[string]string{name: text, "main.tf": "locals {}"})); p.Changes != want {
				t.Errorf("%s: want it to be read: %t, got %t", name, want, p.Changes)
			}
		}
	})
}
