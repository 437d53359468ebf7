// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
		os.Symlink(filepath.Join(packages, "used"), link),
		os.WriteFile(filepath.Join(root, uid, ".crossplane.json"), []byte(`{"initialized": {"entrypoint": ".", "digest": "d"}}`), 0o600),
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
