// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package initcache

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestCLI ensures that a CLI accepts the restored result of init of another directory, including
// providers, modules and backend.
func TestCLI(t *testing.T) {
	t.Parallel()

	mirror := program.Need(t, "PROVIDER_MIRROR")
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	filesystem.Write(t, filepath.Dir(config), files{"cli.tfrc": fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)})

	module := files{
		"main.tf":   "terraform {\n  backend \"local\" {\n    path = \"state\"\n  }\n}\nmodule \"a\" {\n  source = \"./a\"\n}\n",
		"a/main.tf": `resource "time_static" "this" {}`,
	}

	for name, path := range program.CLIs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			run := func(dir string, args ...string) {
				cmd := exec.CommandContext(t.Context(), path, args...)
				cmd.Dir = dir
				cmd.Env = []string{"HOME=" + os.DevNull, "PATH=" + os.Getenv("PATH"), "TF_CLI_CONFIG_FILE=" + config, "CHECKPOINT_DISABLE=1"}

				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s %q: %v: %s", name, args, err, out)
				}
			}

			first, second := t.TempDir(), t.TempDir()
			filesystem.Write(t, first, module)
			filesystem.Write(t, second, module)

			c := newCache(t)

			run(first, "init", "-input=false", "-no-color")

			if err := c.Store("key", first, first); err != nil {
				t.Fatal(err)
			}

			if !c.Restore("key", second) {
				t.Fatal("Restore(...): want true, got false")
			}

			run(second, "apply", "-auto-approve", "-input=false", "-no-color")
		})
	}
}
