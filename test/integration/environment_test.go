// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// backendOfVariable is a module with a variable in the address of its state.
const backendOfVariable = `
variable "states" {}

terraform {
  backend "local" {
    workspace_dir = var.states
  }
}

resource "terraform_data" "only" {}
`

// TestBackendOfVariable has Workspaces that differ in nothing but a variable which says
// where the state is. Each has one of its own, and keeps it.
func TestBackendOfVariable(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	module := backendOfVariable + "# " + unique("module") + "\n"

	for _, want := range [][]string{
		// The init of another Workspace has the address of another state.
		{"init", "plan", "apply", "state pull"},
		{"init", "plan", "apply", "state pull"},
	} {
		states := t.TempDir()
		ws := c.createReferring(t, clusterScope, ns, references{env: []commonv1beta1.EnvVar{{Name: "TF_VAR_states", Value: states}}}, inShard(shard), withConfig(cfg), withModule(module))
		expectReady(t, c, ws)
		expectRuns(t, i, ws, want...)

		if _, err := os.Stat(filepath.Join(states, ws.GetName(), "terraform.tfstate")); err != nil {
			t.Error(err)
		}

		c.request(t, ws)
		expectReady(t, c, ws)

		if runs := i.runs.of(string(ws.GetUID())); runs[len(runs)-1] != "plan" {
			t.Errorf("want nothing but a plan when there is nothing to do, got %q", runs)
		}

		c.remove(t, ws)
		expectGone(t, c, ws)
	}
}

// TestMovedBackendOfVariable has an instance inherit a Workspace when it has initialized
// another one with the same module, whose variable says otherwise.
func TestMovedBackendOfVariable(t *testing.T) {
	t.Parallel()

	c, ns, one, _ := useOpenTofu(t)
	_, _, two, second := useCommon(t, commonOtherTofu)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	module := backendOfVariable + "# " + unique("module") + "\n"
	create := func(shard string) workspace.Workspace {
		return c.createReferring(t, namespacedScope, ns, references{env: []commonv1beta1.EnvVar{{Name: "TF_VAR_states", Value: t.TempDir()}}},
			inShard(shard), withConfig(cfg), withModule(module))
	}

	inherited := create(one)
	expectReady(t, c, inherited)
	expectReady(t, c, create(two))
	c.relabel(t, inherited, two)
	c.request(t, inherited)
	expectRuns(t, second, inherited, "init", "plan")
	expectReady(t, c, inherited)
}

// TestEnvironment checks the environment of every run from creation to deletion.
func TestEnvironment(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	configMap, secret := c.configMapKey(t, ns, "configmap"), c.secretKey(t, ns, "secret")

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createReferring(t, namespacedScope, ns, references{env: []commonv1beta1.EnvVar{
		{Name: "VALUE", Value: "value=with ${signs}"},
		{Name: "CONFIGMAP", ConfigMapKeyReference: configMap},
		{Name: "SECRET", SecretKeyReference: secret},
		{Name: "VALUE_FIRST", Value: "value", ConfigMapKeyReference: configMap, SecretKeyReference: secret},
		{Name: "CONFIGMAP_NEXT", ConfigMapKeyReference: configMap, SecretKeyReference: secret},
		{Name: "EMPTY"},
		{Name: "EMPTY_KEY", SecretKeyReference: c.secretKey(t, ns, "")},
		{Name: "TWICE", SecretKeyReference: secret},
		{Name: "TWICE", Value: "last"},
		{Name: "REPLACED", Value: "workspace"},
		{Name: "EMPTIED"},
		{Name: "TF_WORKSPACE", Value: "workspace"},
	}}, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")), onlyHere())
	expectReady(t, c, ws)
	c.remove(t, ws)
	expectGone(t, c, ws)

	for _, run := range rec.expect(t, string(ws.GetUID()), "init", "plan", "apply", "destroy") {
		want := map[string]string{
			"VALUE":          "value=with ${signs}",
			"CONFIGMAP":      "configmap",
			"SECRET":         "secret",
			"VALUE_FIRST":    "value",
			"CONFIGMAP_NEXT": "configmap",
			"EMPTY":          "",
			"EMPTY_KEY":      "",
			"TWICE":          "last",
			"INHERITED":      "provider",
			"REPLACED":       "workspace",
			"EMPTIED":        "",
			// Other programs must not see the name of the Terraform workspace.
			"TF_WORKSPACE": meta.GetExternalName(ws),
		}
		if _, ok := run.env["TF_WORKSPACE"]; !ok {
			delete(want, "TF_WORKSPACE")
		}

		have := map[string]string{}

		for name := range want {
			if v, ok := run.env[name]; ok {
				have[name] = v
			}
		}

		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("environment of %s: -want, +got:\n%s", run.args[0], diff)
		}
	}
}

// TestPluginCache keeps the runs of one of two Workspaces from using the plugin
// cache of the instance.
func TestPluginCache(t *testing.T) {
	t.Parallel()

	const variable = "TF_PLUGIN_CACHE_DIR"

	c, ns, shard, i, rec := useRecorder(t)
	dir := commonPluginCache(filepath.Dir(i.root))

	enabled, disabled := true, false

	cases := map[string]struct {
		reason string
		cache  *bool
		want   string
	}{
		"Default":  {reason: "The cache is shared by default.", want: dir},
		"Enabled":  {reason: "It can be asked for.", cache: &enabled, want: dir},
		"Disabled": {reason: "It can be refused.", cache: &disabled},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, clusterScope, ns, configSpec{PluginCache: tc.cache})
			ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")), onlyHere())
			expectReady(t, c, ws)

			for _, run := range rec.expect(t, string(ws.GetUID()), "init", "plan", "apply") {
				want := tc.want
				if run.args[0] == "init" && want != "" {
					// The instance has a separate cache in place of the shared one.
					want = filepath.Join(i.workdir(string(ws.GetUID())), ".crossplane-plugins")
				}

				if have := run.env[variable]; have != want {
					t.Errorf("%s: %s of %s: want %q, got %q", tc.reason, variable, run.args[0], want, have)
				}
			}
		})
	}
}
