// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// withEntrypoint makes the Workspace run the CLI in the supplied directory.
func withEntrypoint(dir string) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.Entrypoint = dir })
}

// TestEntrypointStaysInside tries to leave the directory of the Workspace.
func TestEntrypointStaysInside(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	root := t.TempDir()
	i := startInstance(t, c, withShard(shard), withRoot(filepath.Join(root, "inner")))

	cases := map[string]struct {
		reason     string
		entrypoint string
	}{
		"Hidden": {reason: "The way back may come later.", entrypoint: "a/../../outside"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEntrypoint(tc.entrypoint), withModule(moduleFile(t, "outputs.tf")))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.forProvider.entrypoint")
			expectNamedOnce(t, ws, tc.entrypoint)

			for _, dir := range []string{filepath.Join(root, "outside"), filepath.Join(root, "inner", "outside"), filepath.Join(root, "inner", "main.tf")} {
				if _, err := os.Lstat(dir); !os.IsNotExist(err) {
					t.Errorf("%s: want nothing at %q, got %v", tc.reason, dir, err)
				}
			}

			if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
				t.Errorf("%s: want no run of the CLI, got %q", tc.reason, runs)
			}
		})
	}

	t.Run("Slash", func(t *testing.T) {
		t.Parallel()

		// A leading slash has always meant the directory of the Workspace.
		cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEntrypoint("/modules/network"), withModule(`output "directory" { value = path.cwd }`))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"directory": `"` + filepath.Join(i.workdir(string(ws.GetUID())), "modules", "network") + `"`})
	})

	t.Run("Dots", func(t *testing.T) {
		t.Parallel()

		// Four dots are a name like any other. They must not become two on the way.
		cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEntrypoint("....//....//outside"), withModule(`output "directory" { value = path.cwd }`))
		expectReady(t, c, ws)

		if have := string(ws.GetObservation().Outputs["directory"].Raw); !strings.HasPrefix(have, `"`+i.workdir(string(ws.GetUID()))+"/..../") {
			t.Errorf("want to run in the directory of the Workspace, got %s", have)
		}
	})
}

// TestFilesOfOpenTofu renames the files of a module so that only OpenTofu reads them. Terraform would find a module
// without resources, and destroy those that exist.
func TestFilesOfOpenTofu(t *testing.T) {
	t.Parallel()

	for name, use := range map[string]func(*testing.T) (*cluster, string, string, *instance){"tofu": useOpenTofu, "terraform": useTerraform} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, ns, shard, _ := use(t)
			module, e := moduleFile(t, "evidence.tf"), newEvidence(t)
			repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{"main.tf": module})

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "shared"))),
				withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withVar("dir", string(e)))
			expectReady(t, c, ws)

			repo.commit(t, tree{"main.tofu": module + "\noutput \"more\" {\n  value = 1\n}\n"})
			c.request(t, ws)

			if name == "tofu" {
				expectOutputs(t, c, ws, map[string]string{"greeting": `"hello"`, "more": "1"})
			} else {
				expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.forProvider.entrypoint", "the module has no configuration there, no file *.tf")
			}

			if s := ws.GetObservation().State; s == nil || s.Resources != 1 {
				t.Errorf("want one resource in the state, got %+v", s)
			}
		})
	}
}

// TestUnreadFile renames the file with the resources of a module, or of one that it calls, so that only OpenTofu reads it. Terraform
// would destroy them, also what the file protects, because other files are left.
func TestUnreadFile(t *testing.T) {
	t.Parallel()

	const protected = "resource \"terraform_data\" \"database\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n"

	for name, tc := range map[string]struct {
		before, after tree
		unread        string
		address       string
	}{
		"Root":   {before: tree{"main.tf": protected, "versions.tf": "terraform {}\n"}, after: tree{"main.tofu": protected, "versions.tf": "terraform {}\n"}, unread: "main.tofu", address: "terraform_data.database"},
		"Called": {before: tree{"main.tf": "module \"db\" {\n  source = \"./db\"\n}\n", "db/main.tf": protected, "db/outputs.tf": "locals {}\n"}, after: tree{"main.tf": "module \"db\" {\n  source = \"./db\"\n}\n", "db/main.tofu": protected, "db/outputs.tf": "locals {}\n"}, unread: "db/main.tofu", address: "module.db.terraform_data.database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, ns, shard, _ := useTerraform(t)
			cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "unread"))
			repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tc.before)

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir))
			expectReady(t, c, ws)

			repo.commit(t, tc.after)
			c.request(t, ws)

			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.unread+" declares "+tc.address+", and Terraform ", "Nothing was changed. To keep it, set spec.forProvider.cli.product to OpenTofu")

			// The resources of another one that begins with this module are missing.
			other := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir))
			expectReady(t, c, other)
			expectWarnings(t, c, other, tc.unread+": Unread file: Terraform 1.5.7 does not read it: set spec.forProvider.cli.product to OpenTofu, in version 1.8 or later, or give the file the extension .tf")

			c.remove(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.unread+" declares "+tc.address, "If that cannot be mended: ")

			if n := workspace.Remembered(ws).Resources; n != 1 {
				t.Errorf("want the resource to stay, got %d", n)
			}
		})
	}
}

// TestWorkspaceInInit refers to terraform.workspace where OpenTofu takes variables: init does not know the Terraform workspace.
func TestWorkspaceInInit(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	for name, files := range map[string]tree{
		"Backend": {"main.tf": "terraform {\n  backend \"local\" {\n    workspace_dir = \"/tmp/${terraform.workspace}\"\n  }\n}\n"},
		"Source":  {"main.tf": "module \"m\" {\n  source = \"./envs/${terraform.workspace}\"\n}\n", "envs/default/main.tf": "locals {}\n", "envs/dev/main.tf": "locals {}\n"},
		"Missing": {"main.tf": "module \"m\" {\n  source = \"./envs/${terraform.workspace}\"\n}\n", "envs/dev/main.tf": "locals {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), files)

			ws := newWorkspace(namespacedScope, ns, inShard(shard), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withConfig(c.createConfig(t, namespacedScope, ns, configSpec{})))
			meta.SetExternalName(ws, "dev")
			c.create(t, ws)
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `(the backend or the source of a module refers to terraform.workspace, which is "default" in init: use a variable instead)`)
		})
	}
}

// TestHiddenFile adds a file without resources, in place of which OpenTofu reads no other one.
func TestHiddenFile(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)
	module := "resource \"terraform_data\" \"a\" {}\n"
	repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{"main.tf": module})

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "hidden"))),
		withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir))
	expectReady(t, c, ws)

	repo.commit(t, tree{"main.tf": module, "main.tofu": "# Later.\n"})
	c.request(t, ws)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, " has no block, so that the plan would destroy 1 resource.")
}

// TestDeletionWithoutEntrypoint deletes Workspaces whose entrypoint has no configuration any more. Without it, the CLI would
// destroy what the module protects, and find nothing in the region of another provider configuration.
func TestDeletionWithoutEntrypoint(t *testing.T) {
	t.Parallel()

	const wayOut = `the module has no configuration there, no file *.tf; the directories with a configuration: envs/live. If that cannot be mended: `

	for name, use := range map[string]func(*testing.T) (*cluster, string, string, *instance){"tofu": useOpenTofu, "terraform": useTerraform} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, ns, shard, _ := use(t)
			backend := withBackend(ns, "entrypoint")

			for where, place := range map[string]struct {
				config configSpec
				module string
			}{"InConfig": {config: backend}, "InModule": {config: withoutBackend(), module: *backend.Configuration}} {
				t.Run(where, func(t *testing.T) {
					t.Parallel()

					e := newEvidence(t)
					module := place.module + strings.Replace(moduleFile(t, "evidence.tf"), "type = string", fmt.Sprintf("default = %q", string(e)), 1)
					u := newGitUpstream(t, tree{"live/main.tf": module})

					ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, place.config)), withUpstream(u), withEntrypoint("live"))
					expectReady(t, c, ws)

					u.publish(t, tree{"envs/live/main.tf": module})
					c.remove(t, ws)
					expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, wayOut)
					expectDone(t, e, "created")

					c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"entrypoint": "envs/live"}}})
					expectGone(t, c, ws)
					expectDone(t, e, "created", "destroyed")
				})
			}
		})
	}
}

// TestEmptiedModule empties the module of a Workspace with infrastructure, as a template does whose values are missing. The
// CLI would destroy everything, also what prevent_destroy protects.
func TestEmptiedModule(t *testing.T) {
	t.Parallel()

	const refused = " has no block, so that the plan would destroy 1 resource."

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "emptied"))
		module := "resource \"terraform_data\" \"database\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n"
		repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{"main.tf": module})

		inline := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(module))
		remote := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir))

		expectReady(t, c, inline)
		expectReady(t, c, remote)

		repo.commit(t, tree{"main.tf": "# Source: chart/templates/main.tf\n"})
		c.request(t, remote)
		expectCondition(t, c, remote, xpv2.TypeSynced, corev1.ConditionFalse, refused)

		for _, text := range []string{"# Source: chart/templates/main.tf\n", ""} {
			c.changeModule(t, inline, text)
			c.request(t, inline)
			expectCondition(t, c, inline, xpv2.TypeSynced, corev1.ConditionFalse, refused)
		}

		for _, ws := range []workspace.Workspace{inline, remote} {
			if n := workspace.Remembered(ws).Resources; n != 1 {
				t.Errorf("want the resource to stay, got %d", n)
			}
		}

		// The way that the message names.
		c.changeModule(t, inline, "terraform {}\n")
		expectReady(t, c, inline)
	})
}
