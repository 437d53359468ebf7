// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// fetchedModule is a module of two directories, one of which uses the other. It outputs
// its version, and the source of its configuration.
func fetchedModule(version string) tree {
	return tree{
		"main.tf": `
output "version" { value = "` + version + `" }
output "origin" { value = local.origin }
`,
		"live/main.tf": `
variable "region" { default = "none" }
module "common" { source = "../common" }
resource "terraform_data" "region" { input = var.region }
output "version" { value = module.common.version }
output "origin" { value = local.origin }
output "region" { value = terraform_data.region.output }
`,
		"common/main.tf": `output "version" { value = "` + version + `" }`,
	}
}

// request a reconcile of the Workspace and wait until it has been handled.
func (c *cluster) request(t *testing.T, ws workspace.Workspace) {
	t.Helper()

	token := unique("request")
	c.annotate(t, ws, meta.AnnotationKeyReconcileRequestedAt, token)
	expectHandled(t, c, ws, token)
}

// expectSource waits until the status has the address of the module.
func expectSource(t *testing.T, c *cluster, ws workspace.Workspace, want string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if have := ws.GetObservation().RemoteSource; have != want {
			return errors.Errorf("want status.atProvider.remoteSource %q, got %q", want, have)
		}

		return nil
	})
}

// TestRemote fetches modules from everywhere that needs no network.
func TestRemote(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	root := t.TempDir()
	repo := newRepository(t, filepath.Join(root, "repo"), fetchedModule("old"))
	repo.git(t, "tag", "v1.0.0")
	repo.commit(t, fetchedModule("new"))
	web := newDoor(t, newGitHandler(t, root))

	archives := &archiveServer{archives: map[string][]byte{"/module.tar.gz": archive(t, fetchedModule("new"))}}
	files := newDoor(t, archives)

	cases := map[string]struct {
		reason     string
		module     string
		entrypoint string
		want       string
	}{
		"GitHTTPDirectory":  {reason: "One directory of a tag.", module: "git::" + web.url + "/repo//common?ref=v1.0.0", want: "old"},
		"Directory":         {reason: "A directory on this machine.", module: "file://" + repo.dir, want: "new"},
		"GitHTTPEntrypoint": {reason: "The CLI runs in a directory and sees its sibling directories.", module: "git::" + web.url + "/repo?ref=v1.0.0", entrypoint: "live", want: "old"},
		"ArchiveEntrypoint": {reason: "It is the same for an archive.", module: files.url + "/module.tar.gz", entrypoint: "live", want: "new"},
	}

	configuration := "locals {\n  origin = \"configuration\"\n}\n"

	cfg := c.createConfig(t, clusterScope, ns, configSpec{Configuration: &configuration})

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			opts := []workspaceOption{inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, tc.module), withEntrypoint(tc.entrypoint)}
			want := map[string]string{"version": `"` + tc.want + `"`, "origin": `"configuration"`}

			switch {
			case tc.entrypoint != "":
				opts = append(opts, withVar("region", "here"))
				want["region"] = `"here"`
			case strings.Contains(tc.module, "//common"):
				delete(want, "origin")
			}

			ws := c.createWorkspace(t, clusterScope, ns, opts...)
			expectReady(t, c, ws)
			expectOutputs(t, c, ws, want)
			expectSource(t, c, ws, tc.module)

			c.remove(t, ws)
			expectGone(t, c, ws)
		})
	}
}

// TestRemoteEntrypoint runs only in a directory with a module, and never outside of the
// fetched tree.
func TestRemoteEntrypoint(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{
		"main.tf":        `output "where" { value = "root" }`,
		"inner/main.tf":  `output "where" { value = "${local.origin} ${var.where}" }` + "\nvariable \"where\" {}\n",
		"docs/README.md": "There is nothing to run here.",
		"link":           "-> inner",
	})

	cases := map[string]struct {
		reason     string
		entrypoint string
		want       string
		// refused is the reason why there is no run.
		refused string
	}{
		"Link":   {reason: "A link within the module is a directory like any other.", entrypoint: "link", want: `"configuration inner"`},
		"Empty":  {reason: "Without the module, the files that the provider writes would be a module that destroys everything.", entrypoint: "docs", refused: "docs"},
		"Parent": {reason: "The directories of other Workspaces are there.", entrypoint: "..", refused: ".."},
	}

	// The files beside a module have to be in the working directory of the CLI.
	configuration := "locals {\n  origin = \"configuration\"\n}\n"
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Configuration: &configuration})

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withEntrypoint(tc.entrypoint), withVar("where", "inner"))

			if tc.refused == "" {
				expectReady(t, c, ws)
				expectOutputs(t, c, ws, map[string]string{"where": tc.want})

				return
			}

			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.forProvider.entrypoint", tc.refused)
			expectNamedOnce(t, ws, tc.refused)

			if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
				t.Errorf("%s: want no run of the CLI, got %q", tc.reason, runs)
			}
		})
	}
}

// TestRemoteEscape refuses modules with symbolic links that lead out of them, used
// or not.
func TestRemoteEscape(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	outside := t.TempDir()
	filesystem.Write(t, outside, versionFiles("outside"))

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())

	for name, target := range map[string]string{"Absolute": outside, "Parent": ".."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{"main.tf": versionFiles("inside")["main.tf"], "escape": "-> " + target})
			ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withEntrypoint("escape"))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `"escape"`, "leads out of the module")

			if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
				t.Errorf("want no run of the CLI, got %q", runs)
			}
		})
	}
}

// expectNamedOnce fails the test unless the condition Synced has the quoted text once.
func expectNamedOnce(t *testing.T, ws workspace.Workspace, text string) {
	t.Helper()

	message := ws.GetCondition(xpv2.TypeSynced).Message
	if got := strings.Count(message, `"`+text+`"`); got != 1 {
		t.Errorf("want %q to be named once, got %d times in %q", text, got, message)
	}
}

// TestPrivateRepositories fetches the modules of two tenants at the same time, each with
// its own credentials. Neither can fetch the module of the other.
func TestPrivateRepositories(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	root := t.TempDir()
	web := newDoor(t, newGitHandler(t, root))

	for _, tenant := range []string{"one", "two"} {
		newRepository(t, filepath.Join(root, tenant), tree{"main.tf": `output "owner" { value = "` + tenant + `" }`})
		web.restrict(tenant, "password-of-"+tenant)
	}

	address := func(tenant string) workspaceOption {
		return withSource(commonv1beta1.ModuleSourceRemote, "git::"+web.url+"/"+tenant)
	}

	for _, tenant := range []string{"one", "two"} {
		t.Run(tenant, func(t *testing.T) {
			t.Parallel()

			other := map[string]string{"one": "two", "two": "one"}[tenant]
			secret := "http://git:password-of-" + tenant + "@" + web.host()
			cfg := c.createConfig(t, namespacedScope, ns, configSpec{
				Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".git-credentials", c.secretKey(t, ns, secret+"\n"))},
			})

			own := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), address(tenant))
			foreign := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), address(other))

			expectReady(t, c, own)
			expectOutputs(t, c, own, map[string]string{"owner": `"` + tenant + `"`})

			expectCondition(t, c, foreign, xpv2.TypeSynced, corev1.ConditionFalse, "cannot fetch module", "/"+other)
			expectReadable(t, foreign.GetCondition(xpv2.TypeSynced))

			for _, ws := range []workspace.Workspace{own, foreign} {
				expectNothingOnDisk(t, i, ws, "password-of-"+tenant)
			}

			if strings.Contains(foreign.GetCondition(xpv2.TypeSynced).Message, "password") {
				t.Errorf("the condition has the password: %s", describe(foreign.GetCondition(xpv2.TypeSynced)))
			}
		})
	}

	if strings.Contains(i.output.String(), "password-of-") {
		t.Errorf("the log has a password:\n%s", linesWith(i.output.String(), "password-of-"))
	}
}

// TestPrivateModules runs modules that use others, which the CLI fetches. It has
// the credentials of its Workspace, and no others.
func TestPrivateModules(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useTerraform(t)

	root := t.TempDir()
	web := newDoor(t, newGitHandler(t, root))

	for _, tenant := range []string{"one", "two"} {
		newRepository(t, filepath.Join(root, tenant), tree{"main.tf": `output "owner" { value = "` + tenant + `" }`})
		web.restrict(tenant, "password-of-"+tenant)
	}

	secret := "http://git:password-of-one@" + web.host()
	cfg := c.createConfig(t, clusterScope, ns, configSpec{
		Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".git-credentials", c.secretKey(t, ns, secret+"\n"))},
	})
	using := func(tenant string) workspaceOption {
		return withModule("module \"used\" {\n  source = \"git::" + web.url + "/" + tenant + "\"\n}\noutput \"owner\" { value = module.used.owner }\n")
	}

	own := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), using("one"), withEntrypoint("live"))
	foreign := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), using("two"))
	expectReady(t, c, own)
	expectOutputs(t, c, own, map[string]string{"owner": `"one"`})
	// Git asks the server twice, the second time with the same entry.
	expectCondition(t, c, foreign, xpv2.TypeSynced, corev1.ConditionFalse, "cannot initialize", "Authentication failed", "correct the first entry for this host")
	expectReadable(t, foreign.GetCondition(xpv2.TypeSynced))

	// The first entry stays the first one when the other one was used.
	both := c.createConfig(t, clusterScope, ns, configSpec{
		Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".git-credentials", c.secretKey(t, ns, secret+"\nhttp://second:password-of-two@"+web.host()+"\n"))},
	})
	two := "module \"a\" {\n  source = \"git::http://second@" + web.host() + "/two\"\n}\nmodule \"b\" {\n  source = \"git::" + web.url + "/one\"\n}\n"
	mixed := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(both), withModule(two+"output \"owners\" { value = \"${module.a.owner} ${module.b.owner}\" }\n"))
	expectReady(t, c, mixed)
	expectOutputs(t, c, mixed, map[string]string{"owners": `"two one"`})

	expectNothingOnDisk(t, i, mixed, "password-of-two")

	for _, ws := range []workspace.Workspace{own, foreign, mixed} {
		expectNothingOnDisk(t, i, ws, "password-of-one")
	}
}
