// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCrash uses a provider plugin that crashes. Only the stderr of Terraform says why; OpenTofu 1.12 does not.
func TestCrash(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		dir := t.TempDir()
		// The plugin cannot end before the CLI has read what does not fit into a pipe.
		plugin := "#!/bin/sh\n{ echo 'panic: out of sesame'; echo; yes 'goroutine 1 [running]:' | head -n 20000; } >&2\nexit 2\n"
		config := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"hashicorp/time\" = %q\n  }\n}\n", dir)

		err := errors.Join(
			os.WriteFile(filepath.Join(dir, "terraform-provider-time_v1"), []byte(plugin), 0o700),
			os.WriteFile(filepath.Join(dir, "terraformrc"), []byte(config), 0o600),
		)
		if err != nil {
			t.Fatal(err)
		}

		ws := newWorkspace(t, map[string]string{"main.tf": `resource "time_static" "a" {}`})
		ws.Env = append(ws.Env, "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "terraformrc"))
		ws.Redact = func(text string) string { return strings.ReplaceAll(text, "sesame", "***") }

		why := map[Product]string{Terraform: "panic: out of ***: "}[c.Product]

		_, err = c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})
		if err == nil || !strings.HasPrefix(err.Error(), why) || !strings.Contains(err.Error(), "hashicorp/time") {
			t.Errorf("want the reason of the crash and the provider, got %v", err)
		}
	})
}
