// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os/exec"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestModules has the CLI read every module in the examples, and every configuration of a ProviderConfig: they are HCL in
// the format that the CLI writes. A module without Terraform providers is also validated. The schemas of providers are not
// there.
func TestModules(t *testing.T) {
	t.Parallel()

	tofu := program.Need(t, "TOFU_BIN")
	all := manifests(t)

	for _, m := range append(all, composed(t, all, "team-a")...) {
		module, configuration := code(t, m.object)
		if module == "" && configuration == "" {
			continue
		}

		t.Run(m.file+"/"+m.object.GetKind()+"/"+m.object.GetName(), func(t *testing.T) {
			t.Parallel()

			for _, text := range []string{module, configuration} {
				if text == "" {
					continue
				}

				if out, err := run(t, t.TempDir(), text, tofu, "fmt", "-check", "-diff", "-"); err != nil {
					t.Errorf("%v:\n%s", err, out)
				}
			}

			if module == "" || strings.Contains(module, "required_providers") {
				return
			}

			dir := t.TempDir()
			// An example reads a file that is made of a Secret.
			filesystem.Write(t, dir, map[string]string{"main.tf": module, "token.txt": ""})

			for _, args := range [][]string{{"init", "-backend=false", "-input=false"}, {"validate"}} {
				if out, err := run(t, dir, "", tofu, append(args, "-no-color")...); err != nil {
					t.Errorf("%s: %v:\n%s", args[0], err, out)
				}
			}
		})
	}
}

// code returns the HCL in an object: an inline module, and the configuration of a ProviderConfig.
func code(t *testing.T, o *unstructured.Unstructured) (module, configuration string) {
	t.Helper()

	text := func(fields ...string) string {
		s, _, err := unstructured.NestedString(o.Object, fields...)
		if err != nil {
			t.Fatal(err)
		}

		return s
	}

	if !strings.HasPrefix(o.GetAPIVersion(), "tf.") {
		return "", ""
	}

	if text("spec", "forProvider", "source") == "Inline" && text("spec", "forProvider", "inlineFormat") != "JSON" {
		module = text("spec", "forProvider", "module")
	}

	return module, text("spec", "configuration")
}

// run returns the output of a program.
func run(t *testing.T, dir, stdin, path string, args ...string) (string, error) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + dir, "CHECKPOINT_DISABLE=1"}

	out, err := cmd.CombinedOutput()

	return string(out), err
}
