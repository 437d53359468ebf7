// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestCredentialSources takes files of credentials from everywhere but a Secret.
func TestCredentialSources(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("in a file"), 0o600); err != nil {
		t.Fatalf("cannot write file: %v", err)
	}

	environment := func(filename, variable string) commonv1beta1.ProviderCredentials {
		return commonv1beta1.ProviderCredentials{
			Filename:                  filename,
			Source:                    xpv2.CredentialsSourceEnvironment,
			CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Env: &xpv2.EnvSelector{Name: variable}},
		}
	}

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		cfg := newConfig(ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{
			environment("environment", "INHERITED"),
			environment("unset", "NO_SUCH_VARIABLE"),
			{Filename: "none", Source: xpv2.CredentialsSourceNone},
			{
				// Directories have always been dropped.
				Filename:                  "/some/where/filesystem",
				Source:                    xpv2.CredentialsSourceFilesystem,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Fs: &xpv2.FsSelector{Path: file}},
			},
		}})
		c.create(t, cfg)

		ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(`
output "credentials" { value = { for f in ["environment", "unset", "none", "filesystem"] : f => file(f) } }
`))
		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{
			"credentials": `{"environment": "provider", "unset": "", "none": "", "filesystem": "in a file"}`,
		})
	})
}

// TestCredentialNamespace refers to a Secret in another namespace. The ProviderConfig of a
// namespace reads one of the same name in the namespace of the Workspace, and the others read
// the one that the reference names.
func TestCredentialNamespace(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)
	elsewhere := c.namespace(t)

	near := &keyReference{Namespace: ns, Name: "credentials", Key: "key"}
	far := &keyReference{Namespace: elsewhere, Name: near.Name, Key: near.Key}

	c.createSecret(t, far, "far")

	eachConfig(t, func(t *testing.T, s scope, newConfig func(string, configSpec) client.Object) {
		t.Parallel()

		cfg := newConfig(ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", far)}})
		c.create(t, cfg)

		ws, want := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(`output "credentials" { value = file("credentials.txt") }`)), `"far"`

		if cfg.GetNamespace() == ns {
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "credentials.txt", "not found")
			c.createSecret(t, near, "near")

			want = `"near"`
		}

		expectReady(t, c, ws)
		expectOutputs(t, c, ws, map[string]string{"credentials": want})
	})
}

// TestCLIConfig configures the source of provider plugins, at first wrongly. The error
// disappears with the mistake, which shows that this configuration is in use.
func TestCLIConfig(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	mirror := func(path string) string {
		return fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", path)
	}

	ref := &keyReference{Namespace: ns, Name: unique("rc"), Key: "key"}
	c.createSecret(t, ref, mirror(t.TempDir()))

	cfg := c.createConfig(t, namespacedScope, ns, configSpec{Credentials: []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", ref)}})
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "plugin.tf")))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot initialize", "hashicorp/time")

	secret := &corev1.Secret{}
	secret.SetNamespace(ref.Namespace)
	secret.SetName(ref.Name)
	c.patch(t, secret, map[string]any{"stringData": map[string]any{ref.Key: mirror(shared.mirror)}})
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"year": "2020"})
}
