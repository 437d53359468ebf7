// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestPollsBesideConfigs makes an instance with the lowest rate limit reconcile more
// ProviderConfigs than the limit allows in the time that this test waits. Polls do not
// wait for them.
func TestPollsBesideConfigs(t *testing.T) {
	t.Parallel()

	const configs = 40

	c := shared.sharded.started(t)

	ns, shard := c.namespace(t), unique("shard")
	i := startInstance(t, c, withShard(shard), withWorkers(1), withPoll(pollOften))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "beside"))), withModule(moduleFile(t, "outputs.tf")))
	expectReady(t, c, ws)

	for range configs {
		c.createConfig(t, namespacedScope, ns, withoutBackend())
	}

	for range 3 {
		expectAnotherRun(t, i, ws, "plan")
	}
}

// TestPollsOfNumbers has outputs that the API server stores with other digits than those of the CLI. A poll without news
// writes nothing, as for any other output.
func TestPollsOfNumbers(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), polledOften, withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "numbers"))), withModule(`
output "third" { value = 1 / 3 }
output "huge" { value = 18446744073709551615 }
output "small" { value = [0.0000001, { n = 1e21 }] }`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"third": "0.3333333333333333", "huge": "18446744073709552000", "small": `[1e-7,{"n":1e+21}]`})

	// The first plan after the apply updates the serial of the state.
	expectAnotherRun(t, i, ws, "plan")
	expectAnotherRun(t, i, ws, "plan")
	expectSettled(t, c, ws, func() {
		for range 3 {
			expectAnotherRun(t, i, ws, "plan")
		}
	})
}

// TestPollsWithNothingToInstall has a module without a backend, a provider and a called module. Init leaves nothing for it,
// and runs once nevertheless.
func TestPollsWithNothingToInstall(t *testing.T) {
	t.Parallel()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, i := useCommon(t, cli)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withoutBackend())), withModule("output \"greeting\" {\n  value = \"hello\"\n}\n"))
		expectReady(t, c, ws)
		expectOnlyPlans(t, c, i, ws)
	})
}

// lasting returns, for every file of a directory that remains after a run, a value that
// changes when it is written.
func lasting(t *testing.T, dir string) map[string]string {
	t.Helper()

	found := map[string]string{}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && e.IsDir() {
			return nil
		}

		if err != nil {
			return err
		}

		info, err := e.Info()
		if os.IsNotExist(err) || filepath.Ext(path) == ".tfvars" || filepath.Ext(path) == ".tfplan" || e.Name() == ".crossplane-use" {
			return nil // It is about one run only.
		}

		if err != nil {
			return err
		}

		inode := info.Sys().(*syscall.Stat_t).Ino //nolint:forcetypeassert // It is Linux.
		found[path] = strconv.FormatUint(inode, 10) + " " + info.ModTime().Format(time.RFC3339Nano)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return found
}
