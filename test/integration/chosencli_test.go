// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// newCLIDir returns a directory for --cli-dir with all CLIs of the tests.
func newCLIDir(t *testing.T) string {
	t.Helper()

	dir, sums := t.TempDir(), &strings.Builder{}

	for name, path := range shared.clis {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(filepath.Join(dir, name), data, 0o555); err != nil {
			t.Fatal(err)
		}

		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(data), name)
	}

	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o444); err != nil {
		t.Fatal(err)
	}

	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}

	return dir
}

// chosen CLI of the parameters of a Workspace.
func chosen(cli *commonv1beta1.CLI) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.CLI = cli })
}

// TestChosenCLI has an instance of OpenTofu, with Terraform beside it. Workspaces run with the one that they, or their
// ProviderConfig, ask for, and go from the one to the other.
func TestChosenCLI(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withArgs("--cli-dir="+newCLIDir(t)))

	opentofu := &commonv1beta1.CLI{Product: commonv1beta1.CLIProductOpenTofu, Version: versionOf(t, "tofu")}
	other := &commonv1beta1.CLI{Product: commonv1beta1.CLIProductTerraform, Version: versionOf(t, "terraform")}
	module := withModule(`output "greeting" { value = "hello" }`)

	eachScope(t, func(t *testing.T, s scope) {
		suffix := "chosen-" + strings.ToLower(string(s))
		spec := withBackend(ns, suffix)
		plain := c.createConfig(t, s, ns, spec)
		spec.CLI = other
		old := c.createConfig(t, s, ns, spec)

		create := func(cfg client.Object, cli *commonv1beta1.CLI) workspace.Workspace {
			return c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), module, chosen(cli))
		}

		unset, inherited, own, missing := create(plain, nil), create(old, nil), create(old, opentofu), create(plain, &commonv1beta1.CLI{Product: "OpenTofu", Version: "9.9.9"})

		expectWritten := func(ws workspace.Workspace, by *commonv1beta1.CLI) {
			t.Helper()

			if s := c.readState(t, stateSecret(ws, ns, suffix)); s.Version != by.Version {
				t.Errorf("state of %q: want %s %s to have written it, got %s", ws.GetName(), by.Product, by.Version, s.Version)
			}
		}

		for _, ws := range []workspace.Workspace{unset, inherited, own} {
			expectReady(t, c, ws)
		}

		expectWritten(unset, opentofu)
		expectWritten(inherited, other)
		expectWritten(own, opentofu)

		expectCondition(t, c, missing, xpv2.TypeSynced, corev1.ConditionFalse, "cannot use spec.forProvider.cli: this instance does not have OpenTofu 9.9.9 in --cli-dir, it has OpenTofu "+opentofu.Version)
		expectReason(t, c, missing, xpv2.TypeSynced, xpv2.ReasonReconcileError)

		if runs := i.runs.of(string(missing.GetUID())); len(runs) > 0 {
			t.Errorf("want no run for a version that is missing, got %q", runs)
		}

		// It moves to OpenTofu, with its state.
		c.patch(t, inherited, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
			"cli":    map[string]any{"product": "OpenTofu", "version": opentofu.Version},
			"module": `output "greeting" { value = "bye" }`,
		}}})
		expectOutputs(t, c, inherited, map[string]string{"greeting": `"bye"`})
		expectWritten(inherited, opentofu)

		for _, ws := range []workspace.Workspace{unset, inherited, own, missing} {
			if ws == missing {
				c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"cli": nil}}})
			}

			c.remove(t, ws)
			expectGone(t, c, ws)
		}
	})
}

// versionOf the named CLI.
func versionOf(t *testing.T, cli string) string {
	t.Helper()

	c, err := terraform.Find(t.Context(), shared.clis[cli], terraform.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return c.Version
}
