// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestRemovedInputs removes every kind of input of a Workspace, and changes the syntax of
// its module. Runs after that use none of the old inputs.
func TestRemovedInputs(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	inputs := []string{
		"main.tf",
		"main.tf.json",
		"credentials.txt",
		"crossplane-provider-config.tf",
		"crossplane.remote.tfbackend",
		"crossplane-provider-terraform-vars.tfvars",
		"crossplane-provider-terraform-0.tfvars",
		"crossplane-provider-terraform-1.tfvars.json",
	}

	// present returns which of the inputs there were in a run.
	present := func(run recordedRun) []string {
		var names []string

		for _, name := range inputs {
			if _, ok := run.modes[name]; ok {
				names = append(names, name)
			}
		}

		return names
	}

	// The CLI warns about a backend file without a backend, and continues.
	configuration, backend := "locals {\n  origin = \"configuration\"\n}\n", `path = "terraform.tfstate"`
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{
		Configuration: &configuration,
		BackendFile:   &backend,
		Credentials:   []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "open sesame"))},
	})
	ws := c.createReferring(t, namespacedScope, ns, references{
		varFiles: []commonv1beta1.VarFile{configMapVars(c.configMapKey(t, ns, `file = "file"`), nil)},
	}, inShard(shard), withConfig(cfg), withModule(echo("var", "file", "map")), withVar("var", `"var"`), withVarMap(`{"map": "map"}`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"var": `"var"`, "file": `"file"`, "map": `"map"`})

	want := []string{
		"main.tf",
		"credentials.txt",
		"crossplane-provider-config.tf",
		"crossplane.remote.tfbackend",
		"crossplane-provider-terraform-vars.tfvars",
		"crossplane-provider-terraform-0.tfvars",
		"crossplane-provider-terraform-1.tfvars.json",
	}
	if diff := cmp.Diff(want, present(last(t, rec.of(t, string(ws.GetUID())), "plan"))); diff != "" {
		t.Errorf("inputs at first: -want, +got:\n%s", diff)
	}

	c.patch(t, cfg, map[string]any{"spec": map[string]any{"configuration": nil, "backendFile": nil, "credentials": nil}})
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"inlineFormat": "JSON",
		"module":       `{"output": {"syntax": {"value": "JSON"}}}`,
		"vars":         nil,
		"varFiles":     nil,
		"varmap":       nil,
	}}})
	expectOutputs(t, c, ws, map[string]string{"syntax": `"JSON"`})
	expectReady(t, c, ws)

	if diff := cmp.Diff([]string{"main.tf.json"}, present(last(t, rec.of(t, string(ws.GetUID())), "plan"))); diff != "" {
		t.Errorf("inputs that are left: -want, +got:\n%s", diff)
	}
}
