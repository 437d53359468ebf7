// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestPluginCacheIsBounded ensures that an instance removes providers from the plugin
// cache that were not used for long, and keeps the others.
func TestPluginCacheIsBounded(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	packages := filepath.Join(dir, ".crossplane", "packages")
	past := time.Now().Add(-30 * 24 * time.Hour)

	for _, name := range []string{"unused", "used"} {
		if err := os.MkdirAll(filepath.Join(packages, name), 0o700); err != nil {
			t.Fatal(err)
		}

		if err := os.Chtimes(filepath.Join(packages, name), past, past); err != nil {
			t.Fatal(err)
		}
	}

	// A working directory that init ran in has a link to one of them.
	const uid = "ffffffff-ffff-4fff-bfff-ffffffffffff"

	root := t.TempDir()
	link := filepath.Join(root, uid, ".terraform", "providers", "r", "h", "used", "1.0.0", "linux_amd64")

	if err := errors.Join(
		os.MkdirAll(filepath.Dir(link), 0o700),
		os.MkdirAll(filepath.Join(root, ".records", uid), 0o700),
		os.Symlink(filepath.Join(packages, "used"), link),
		os.WriteFile(filepath.Join(root, ".records", uid, "manifest.json"), []byte(`{"initialized": {"entrypoint": ".", "digest": "d"}}`), 0o600),
	); err != nil {
		t.Fatal(err)
	}

	c := shared.sharded.started(t)
	startInstance(t, c, withShard(unique("shard")), withRoot(root), withEnv("TF_PLUGIN_CACHE_DIR", dir))

	eventually(t, func() error {
		if _, err := os.Stat(filepath.Join(packages, "unused")); !os.IsNotExist(err) {
			return errors.Errorf("want an unused provider to be removed, got %v", err)
		}

		return nil
	})

	if _, err := os.Stat(filepath.Join(packages, "used")); err != nil {
		t.Errorf("a provider that a working directory uses: %v", err)
	}
}

// TestIncompleteLockFile has a module in a directory whose lock file lacks a provider, and polls it. Init completes the
// file once, not at each poll.
func TestIncompleteLockFile(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)
	src := t.TempDir()
	filesystem.Write(t, src, tree{"main.tf": moduleFile(t, "plugin.tf"), ".terraform.lock.hcl": "# Made before the provider was added.\n"})

	rc := c.secretKey(t, ns, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", shared.mirror))
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", rc)}})
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, src))
	expectReady(t, c, ws)
	expectOnlyPlans(t, c, i, ws)
}

// TestBrokenProvider has a mirror that sends a web page for the program of a provider, until it is mended. The checksums of the
// package were right. Later, the plugin cache is damaged.
func TestBrokenProvider(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		for name, cache := range map[string]string{"NoCache": "", "Cache": t.TempDir()} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				testBrokenProvider(t, cli, cache)
			})
		}
	})
}

// TestReadOnlyPluginCache has a directory that no process can write to, as the variable of the image names one on a read-only file system. No
// ProviderConfig uses it.
func TestReadOnlyPluginCache(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withEnv("TF_PLUGIN_CACHE_DIR", "/sys"))

	cfg := c.createConfig(t, namespacedScope, ns, configSpec{PluginCache: new(false)})
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`output "a" { value = 1 }`))
	expectReady(t, c, ws)
}

func testBrokenProvider(t *testing.T, cli, cache string) {
	t.Helper()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	host := map[string]string{commonTofu: "registry.opentofu.org", commonTerraform: "registry.terraform.io"}[cli]
	mirror := t.TempDir()
	name := filepath.Join(mirror, host, "hashicorp", "time", "terraform-provider-time_0.14.2_linux_amd64.zip")

	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}

	write := func(program []byte, mode fs.FileMode) {
		if err := os.WriteFile(name, zippedProgram(t, "terraform-provider-time_v0.14.2", program, mode), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	write([]byte("<html>Sign in</html>\n"), 0o755)

	i := startInstance(t, c, withShard(shard), withCLI(shared.clis[cli]), withEnv("TF_PLUGIN_CACHE_DIR", cache))

	rc := c.secretKey(t, ns, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", rc)}})

	var all []workspace.Workspace

	for range 2 {
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")))
		all = append(all, ws)

		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "exec format error")
	}

	program, err := os.ReadFile(filepath.Join(shared.mirror, host, "hashicorp/time/0.14.2/linux_amd64/terraform-provider-time_v0.14.2"))
	if err != nil {
		t.Fatal(err)
	}

	write(program, 0o644)

	for _, ws := range all {
		c.request(t, ws)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "permission denied: the package has the program without the right to execute it")
	}

	write(program, 0o755)

	for _, ws := range all {
		c.request(t, ws)
		expectReady(t, c, ws)
	}

	programs, err := filepath.Glob(filepath.Join(cache, ".crossplane/packages/*/terraform-provider-*"))
	if err != nil || cache != "" && len(programs) != 1 {
		t.Fatalf("programs in the plugin cache: %q, %v", programs, err)
	}

	for _, path := range programs {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}

	all = append(all, c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")+"\n# Another one.\n")))

	for _, ws := range all {
		c.request(t, ws)
		expectReady(t, c, ws)
	}

	if cache != "" {
		return
	}

	// The mirror replaces the files of the version. A lock file of the module would refuse them.
	write(append(program, 0), 0o755)

	if err := os.RemoveAll(filepath.Join(i.workdir(string(all[0].GetUID())), ".terraform", "providers")); err != nil {
		t.Fatal(err)
	}

	c.request(t, all[0])
	expectEvent(t, c, all[0], "CannotConnectToProvider", "The module has no .terraform.lock.hcl, so that the next try accepts the package")
	expectReady(t, c, all[0])
}

// zippedProgram returns an archive with a program.
func zippedProgram(t *testing.T, name string, program []byte, mode fs.FileMode) []byte {
	t.Helper()

	buf := bytes.Buffer{}
	w := zip.NewWriter(&buf)
	h := &zip.FileHeader{Name: name}
	h.SetMode(mode)

	f, err := w.CreateHeader(h)
	if err == nil {
		_, err = f.Write(program)
	}

	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}

	return buf.Bytes()
}
