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

// TestCrashOfCLI has what both CLIs write when they recover from a panic of their own, with the stack trace of a goroutine.
func TestCrashOfCLI(t *testing.T) {
	t.Parallel()

	const (
		text = `
!!!!!!!!!!!!!!!!!!!!!!!!!!! %[2]s CRASH !!!!!!!!!!!!!!!!!!!!!!!!!!!!

%[1]s crashed! This is always indicative of a bug within %[1]s.
Please report the crash with %[1]s[1] so that we can fix this.

When reporting bugs, please include your %[1]s version, the stack trace
shown below, and any additional information which may help replicate the issue.

[1]: https://github.com/example/issues

!!!!!!!!!!!!!!!!!!!!!!!!!!! %[2]s CRASH !!!!!!!!!!!!!!!!!!!!!!!!!!!!

runtime error: invalid memory address or nil pointer dereference
goroutine %[3]d [running]:
runtime/debug.Stack()
	/usr/lib/go/src/runtime/debug/stack.go:26 +0x5e
github.com/example/internal/logging.PanicHandler()
	/src/internal/logging/panic.go:58 +0x%[3]x
created by github.com/example/internal/dag.(*Walker).Update in goroutine %[3]d
	/src/internal/dag/walk.go:238 +0xf7b
`
		why   = " crashed: runtime error: invalid memory address or nil pointer dereference. Use another version with spec.forProvider.cli"
		exist = ". What it was creating may exist without being in the state"
	)

	for op, more := range map[string]string{opInit: "", opPlan: "", opApply: exist} {
		for _, product := range []string{"Terraform", "OpenTofu"} {
			for _, goroutine := range []int{7, 4711} {
				stderr := fmt.Sprintf(text, product, strings.ToUpper(product), goroutine)
				if got, want := newError(op, Workspace{}, result{code: 11, stderr: stderr}, failed()).Error(), product+why+more; got != want {
					t.Errorf("%s of %s: want %q, got %q", op, product, want, got)
				}
			}
		}
	}

	stderr := fmt.Sprintf(text, "OpenTofu", "OPENTOFU", 7)
	if got, want := newError(opPlan, Workspace{}, result{code: 11, stderr: stderr}, failed(Diagnostic{Summary: "S"})).Error(), "OpenTofu"+why+": S"; got != want {
		t.Errorf("want what was reported before, too: %q, got %q", want, got)
	}
}
