// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// gcOften makes an instance collect garbage all the time.
func gcOften() instanceOption { return withArgs("--gc-interval=1s") }

// TestGarbageCollection lets two shards collect the garbage in one directory. Each
// of them has only its own Workspaces in its cache.
func TestGarbageCollection(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two, root := c.namespace(t), unique("shard"), unique("shard"), t.TempDir()
	a := startInstance(t, c, withShard(one), withRoot(root), gcOften())
	b := startInstance(t, c, withShard(two), withRoot(root), gcOften())

	kept := []string{}

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withoutBackend())
		text := withModule(moduleFile(t, "outputs.tf"))
		as := c.createWorkspace(t, s, ns, inShard(one), withConfig(cfg), text)
		bs := c.createWorkspace(t, s, ns, inShard(two), withConfig(cfg), text)
		unserved := c.createWorkspace(t, s, ns, withConfig(cfg), text)

		expectReady(t, c, as)
		expectReady(t, c, bs)
		kept = append(kept, a.workdir(string(as.GetUID())), b.workdir(string(bs.GetUID())), newDir(t, root, string(unserved.GetUID())))
	}

	// A directory whose name is not a UID is not a workdir.
	kept = append(kept, newDir(t, root, "plugin-cache"))

	expectCollection(t, root)

	// Whose directory the first round took may depend on whose round it was.
	a.stop(t)
	expectCollection(t, root)
	expectKept(t, kept...)
}

// expectCollection waits until the garbage collector has removed a new directory without a
// Workspace. All earlier garbage is removed by then as well.
func expectCollection(t *testing.T, root string) {
	t.Helper()

	orphan := newDir(t, root, string(uuid.NewUUID()))

	eventually(t, func() error { return isMissing(orphan) })
}

func expectKept(t *testing.T, dirs ...string) {
	t.Helper()

	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a directory is gone that is still needed: %v", err)
		}
	}
}

func isMissing(dir string) error {
	_, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return nil
	}

	return errors.Errorf("want %s to be gone, got %v", dir, err)
}

// newDir makes a directory with a file in it.
func newDir(t *testing.T, root, name string) string {
	t.Helper()

	dir := filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("cannot make directory: %v", err)
	}

	if err := os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o600); err != nil {
		t.Fatalf("cannot write file: %v", err)
	}

	return dir
}
