// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestArguments gives each command arguments of its own.
func TestArguments(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	args := map[string][]string{
		"init":    {"-get=false", "-no-color"},
		"plan":    {"-parallelism=3", "-compact-warnings"},
		"apply":   {"-parallelism=4", "-lock-timeout=1s"},
		"destroy": {"-parallelism=5", "-lock-timeout=2s"},
	}

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", newEvidence(t)),
		withParameters(func(p *commonv1beta1.ModuleParameters) {
			p.InitArgs, p.PlanArgs, p.ApplyArgs, p.DestroyArgs = args["init"], args["plan"], args["apply"], args["destroy"]
		}))
	expectReady(t, c, ws)
	c.remove(t, ws)
	expectGone(t, c, ws)

	for _, run := range rec.expect(t, string(ws.GetUID()), "init", "plan", "apply", "destroy") {
		for command, want := range args {
			// The provider may have requested the same itself.
			have := slices.ContainsFunc(want, func(a string) bool { return a != "-no-color" && slices.Contains(run.args, a) })
			if have != (command == run.args[0]) {
				t.Errorf("arguments of %s: %q in a run of %q: %t", command, want, run.args, have)
			}
		}
	}
}

// TestTargetedDestroy destroys a part of the resources. The Workspace stays until all are
// destroyed.
func TestTargetedDestroy(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	module := withModule(`
variable "dir" {}

resource "terraform_data" "both" {
  for_each = toset(["one", "two"])
  input    = var.dir

  provisioner "local-exec" {
    when    = destroy
    command = "echo ${each.key} >>'${self.input}/done'"
  }
}
`)

	for _, name := range []string{"", "default"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := newEvidence(t)
			cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())

			ws := newWorkspace(namespacedScope, ns, inShard(shard), withConfig(cfg), module, withVar("dir", string(e)),
				withParameters(func(p *commonv1beta1.ModuleParameters) {
					p.DestroyArgs = []string{`-target=terraform_data.both["one"]`}
				}))
			if name != "" {
				meta.SetExternalName(ws, name)
			}

			c.create(t, ws)
			expectReady(t, c, ws)

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "resources left", "spec.forProvider.destroyArgs")
			expectDone(t, e, "one")
			expectAnotherRun(t, i, ws, "destroy")
			expectExists(t, c, ws)

			c.changeArguments(t, ws, "destroyArgs")
			expectGone(t, c, ws)
			expectDone(t, e, "one", "two")
		})
	}
}

// TestIndependentArguments has a variable that only arguments set. Each command
// needs them for itself.
func TestIndependentArguments(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	const missing = "No value for required variable"

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(`
variable "who" {}
resource "terraform_data" "only" { input = var.who }
output "who" { value = terraform_data.only.output }
`), withParameters(func(p *commonv1beta1.ModuleParameters) { p.PlanArgs = []string{"-var=who=plan"} }))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, missing)

	c.changeArguments(t, ws, "applyArgs", "-var=who=apply")
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"who": `"apply"`})

	c.remove(t, ws)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, missing)

	c.changeArguments(t, ws, "destroyArgs", "-var=who=destroy")
	expectGone(t, c, ws)

	for command, want := range map[string]string{"plan": "-var=who=plan", "apply": "-var=who=apply", "destroy": "-var=who=destroy"} {
		if diff := cmp.Diff(true, slices.Contains(last(t, rec.of(t, string(ws.GetUID())), command).args, want)); diff != "" {
			t.Errorf("%s among the arguments of %s: -want, +got:\n%s", want, command, diff)
		}
	}
}

// TestPlannedOtherwise has an argument of plan that apply does not have, so that each poll plans the same change again.
func TestPlannedOtherwise(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, _ := useCommon(t, cli)
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("otherwise")))
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`
variable "who" { default = "module" }
resource "terraform_data" "only" { input = var.who }
`), withParameters(func(p *commonv1beta1.ModuleParameters) { p.PlanArgs = []string{"-var=who=plan"} }))
		expectReady(t, c, ws)

		const lacks = "spec.forProvider.destroyArgs: Variables without their values: planArgs, applyArgs or TF_CLI_ARGS_... set variables with -var or -var-file, and a deletion uses their defaults, perhaps in another region. Add these arguments"
		expectWarnings(t, c, ws, lacks)

		c.label(t, ws, "plan", "again")
		expectWarnings(t, c, ws, lacks, "spec.forProvider.planArgs and applyArgs: Other changes than planned: the plan had 0 to add, 1 to change and 0 to destroy, and the apply made 0, 0 and 0. It does not use planArgs: each poll plans the rest again. Give both the same arguments")

		c.changeArguments(t, ws, "applyArgs", "-var=who=plan")
		expectWarnings(t, c, ws, lacks)
		c.changeArguments(t, ws, "destroyArgs", "-var=who=plan")
		expectWarnings(t, c, ws)
		expectReady(t, c, ws)
	})
}

// TestSavedPlan checks that the first and later applies use the saved plan, and not a plan
// that would be made at their time.
func TestSavedPlan(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "saved"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withModule(`output "a" { value = 1 }`))
	expectReady(t, c, ws)
	c.changeModule(t, ws, `output "a" { value = 2 }`)
	expectOutputs(t, c, ws, map[string]string{"a": "2"})

	var planned string

	applied := 0

	for _, run := range rec.of(t, string(ws.GetUID())) {
		final := run.args[len(run.args)-1]

		switch run.args[0] {
		case "plan":
			planned = strings.TrimPrefix(final, "-out=")
		case "apply":
			applied++

			if final != planned || !strings.HasSuffix(planned, ".tfplan") {
				t.Errorf("want the saved plan, %q, to be applied, got %q", planned, run.args)
			}
		}
	}

	if applied != 2 {
		t.Errorf("want two applies, got %d", applied)
	}
}

// changeArguments replaces the arguments of one command of the Workspace.
func (c *cluster) changeArguments(t *testing.T, ws workspace.Workspace, field string, args ...string) {
	t.Helper()
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{field: args}}})
}
